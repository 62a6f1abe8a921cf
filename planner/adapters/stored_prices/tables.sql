-- What refreshes have brought. Observations are only added; an offer points to its newest one.
CREATE TABLE term (  -- an instance on one kind of price
  id INTEGER PRIMARY KEY,
  provider TEXT NOT NULL,
  instance_type TEXT NOT NULL,
  price_kind TEXT NOT NULL,
  accelerator TEXT,  -- what all of its offers say that it carries; NULL where they differ or do not say it
  accelerators INTEGER,
  least_usd REAL,  -- the lowest of its offers; 0 where one of them has no price
  UNIQUE (provider, instance_type, price_kind)
) STRICT;
CREATE TABLE offer (  -- one price of a source, with what of its newest observation decides which price is used
  id INTEGER PRIMARY KEY,
  term INTEGER NOT NULL REFERENCES term,
  accelerator TEXT,
  accelerators INTEGER,
  region TEXT NOT NULL,
  zone TEXT,
  origin TEXT NOT NULL,
  usd REAL,
  as_of TEXT NOT NULL,
  fetched_at TEXT NOT NULL,
  available INTEGER,
  newest INTEGER NOT NULL REFERENCES observation
) STRICT;
CREATE TABLE observation (
  id INTEGER PRIMARY KEY,
  offer INTEGER NOT NULL REFERENCES offer,
  price TEXT NOT NULL  -- the whole row, as JSON
) STRICT;
CREATE TABLE list_read (  -- whole lists of a provider, each with the day of its last reading
  provider TEXT NOT NULL,
  origin TEXT NOT NULL,
  price_kind TEXT NOT NULL,
  region TEXT NOT NULL,
  read_on TEXT NOT NULL,
  PRIMARY KEY (provider, origin, price_kind, region)
) STRICT;
CREATE INDEX terms_alike ON term (provider, accelerator, accelerators, price_kind, least_usd, instance_type);
CREATE INDEX offers_of_term ON offer (term, region, usd, as_of, fetched_at, available, origin);
CREATE INDEX offers_in_region ON offer (region);
CREATE INDEX observations_of_offer ON observation (offer);

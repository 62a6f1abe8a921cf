-- The stored prices that may be among the cheapest, and how many instances were passed over.
--
-- What is passed over changes no answer (planner/scenario/price_choice.py). A row counts for its instance in its
-- region, so the price of an instance there lies between its lowest and its highest row. A search takes the cheapest
-- region of an instance, and shows two of the instances of one provider that carry the same.
--
-- :kinds     kind of price -> first day on which a word about availability is fresh
-- :regions   the regions that are asked for; NULL: all
-- :said      whether only what its source says is to be had is looked for
-- :known     [provider, instance_type] of the machines that the catalog describes, whose networks differ
-- :standing  [provider, instance_type, region, kind] of the catalog's rows, whose place a stored one takes
WITH
kind AS MATERIALIZED (SELECT key AS name, value AS fresh FROM json_each(:kinds)),
inside AS MATERIALIZED (SELECT value AS region FROM json_each(:regions)),
-- Every offer that is asked for; `sure` is its price where it is sure to be compared: listed, and not sold out.
seen AS NOT MATERIALIZED (
  SELECT term, region, coalesce(usd, 0) AS least, as_of,
    CASE
      WHEN available IS NOT FALSE AND (NOT :said OR (available IS TRUE AND as_of >= kind.fresh)) AND NOT EXISTS (
        SELECT 1 FROM list_read
        WHERE list_read.provider = term.provider AND list_read.origin = offer.origin
          AND list_read.price_kind = term.price_kind AND list_read.region IN ('*', offer.region)
          AND list_read.read_on > offer.fetched_at
      ) THEN usd
    END AS sure
  FROM offer CROSS JOIN term CROSS JOIN kind
  WHERE term.id = offer.term AND kind.name = term.price_kind AND (:regions IS NULL OR region IN inside)
),
-- Where something is asked for: the terms of which an offer is in the regions, and passes.
there AS MATERIALIZED (SELECT DISTINCT term FROM offer WHERE region IN inside),
asked AS MATERIALIZED (
  SELECT DISTINCT term FROM offer
  WHERE (:regions IS NULL OR region IN inside) AND (NOT :said OR available IS TRUE)
),
-- Always read: known machines, and instances whose rows differ in what they carry.
apart AS MATERIALIZED (
  SELECT term.id FROM json_each(:known) AS machine CROSS JOIN term
  WHERE term.provider = machine.value ->> 0 AND term.instance_type = machine.value ->> 1
  UNION
  SELECT id FROM term WHERE accelerator IS NULL
),
alike AS MATERIALIZED (
  SELECT provider, accelerator, accelerators, price_kind,
    count(*) AS instances, count(*) FILTER (WHERE :said AND id NOT IN asked) AS unsaid
  FROM term
  WHERE accelerator IS NOT NULL AND price_kind IN (SELECT name FROM kind) AND id NOT IN apart
    AND (:regions IS NULL OR id IN there)
  GROUP BY 1, 2, 3, 4
),
-- Of instances alike, the first two that are sure to be offered: all of their rows are sure, and of one day.
first AS MATERIALIZED (
  SELECT alike.*, term.id, (SELECT max(sure) FROM seen WHERE seen.term = term.id) AS most_usd
  FROM alike CROSS JOIN term
  WHERE term.id IN (
    SELECT id FROM term AS one
    WHERE one.provider = alike.provider AND one.accelerator = alike.accelerator
      AND one.accelerators = alike.accelerators AND one.price_kind = alike.price_kind AND one.least_usd > 0
      AND ((:regions IS NULL AND NOT :said) OR one.id IN asked)
      AND one.id NOT IN apart
      AND (SELECT count(*) = count(sure) AND min(as_of) = max(as_of) FROM seen WHERE seen.term = one.id)
    ORDER BY one.least_usd, one.instance_type LIMIT 2
  )
),
enough AS MATERIALIZED (
  SELECT provider, accelerator, accelerators, price_kind, max(most_usd) AS usd
  FROM first GROUP BY 1, 2, 3, 4 HAVING count(*) = 2
),
-- Of instances alike, also those that may cost less than these two.
wanted AS MATERIALIZED (
  SELECT id FROM first
  UNION
  SELECT term.id FROM alike LEFT JOIN enough USING (provider, accelerator, accelerators, price_kind) CROSS JOIN term
  WHERE term.provider = alike.provider AND term.accelerator = alike.accelerator
    AND term.accelerators = alike.accelerators AND term.price_kind = alike.price_kind
    AND term.least_usd < coalesce(enough.usd, 9e999)
    AND ((:regions IS NULL AND NOT :said) OR term.id IN asked)
    AND term.id NOT IN apart
),
-- The bounds of each instance's price in each region, and below which price another region cannot be the cheapest.
place AS MATERIALIZED (
  SELECT term, region, min(least) AS least_usd, CASE WHEN count(*) = count(sure) THEN max(sure) END AS most_usd,
    min(as_of) AS oldest, max(max(as_of)) OVER (PARTITION BY term) AS newest
  FROM (SELECT id FROM apart UNION ALL SELECT id FROM wanted) AS each_term CROSS JOIN seen
  WHERE seen.term = each_term.id GROUP BY term, region
),
near AS MATERIALIZED (SELECT term, min(most_usd) AS usd FROM place WHERE oldest = newest GROUP BY term),
kept AS MATERIALIZED (
  SELECT DISTINCT term.provider, term.instance_type, place.region
  FROM place LEFT JOIN near USING (term) CROSS JOIN term
  WHERE term.id = place.term AND (
    near.usd IS NULL OR place.least_usd <= near.usd + max(:tie_fraction * near.usd, :tie_usd)
    OR (term.provider, term.instance_type, place.region, term.price_kind) IN (
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(:standing)
    )
  )
),
-- What is kept on all kinds of price; and of each other region one row, so that its name is known.
chosen AS (
  SELECT offer.newest FROM kept CROSS JOIN term CROSS JOIN offer
  WHERE term.provider = kept.provider AND term.instance_type = kept.instance_type
    AND offer.term = term.id AND offer.region = kept.region
  UNION
  SELECT newest FROM offer
  WHERE id IN (SELECT min(id) FROM offer WHERE :regions IS NULL OR region IN inside GROUP BY region)
    AND region NOT IN (SELECT region FROM kept)
  UNION
  -- A price that is the same everywhere keeps the catalog's rows of that machine listed, in the regions asked for too.
  SELECT offer.newest FROM offer JOIN term ON term.id = offer.term
  WHERE offer.region = 'any' AND :regions IS NOT NULL AND (term.provider, term.instance_type) IN (
    SELECT value ->> 0, value ->> 1 FROM json_each(:standing)
  )
)
SELECT price, NULL AS unread FROM chosen CROSS JOIN observation WHERE observation.id = chosen.newest
UNION ALL
SELECT NULL, json_object(
  'provider', provider, 'accelerator', accelerator, 'accelerators', accelerators, 'price_kind', price_kind,
  'instances', counted.value, 'nobody_says', json(iif(counted.key = 'unsaid', 'true', 'false'))
)
FROM (
  SELECT alike.*, alike.instances - unsaid - (
    SELECT count(*) FROM wanted JOIN term USING (id)
    WHERE term.provider = alike.provider AND term.accelerator = alike.accelerator
      AND term.accelerators = alike.accelerators AND term.price_kind = alike.price_kind
  ) AS dearer FROM alike
) CROSS JOIN json_each(json_object('dearer', dearer, 'unsaid', unsaid)) AS counted
WHERE counted.value > 0

"""Secrets by their published formats, drawn anew from a seed: no literal token stands in this file.

Each line is `id | text`, where `<alnum 36>` draws that many characters; the drawn ones are the secret. A text with
` := ` gives a name and its value, which the variants join in their own way.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

DIGITS = "0123456789"
LOWER = "abcdefghijklmnopqrstuvwxyz"
SETS = {
    "digit": DIGITS,
    "hex": DIGITS + "abcdef",
    "lower": DIGITS + LOWER,
    "upper": DIGITS + LOWER.upper(),
    "letters": LOWER + LOWER.upper(),
    "alnum": DIGITS + LOWER + LOWER.upper(),
    "url": DIGITS + LOWER + LOWER.upper() + "_-",
    "base64": DIGITS + LOWER + LOWER.upper() + "+/",
    "word": DIGITS + LOWER + LOWER.upper() + "_",
}
SPECS = """
1password | ops_eyJ<base64 280>
adobe | p8e-<lower 32>
age | AGE-SECRET-KEY-1<upper 58>
airtable | pat<alnum 14>.<hex 64>
alibaba | LTAI<alnum 20>
anthropic | sk-ant-api03-<url 93>AA
anthropic admin | sk-ant-admin01-<url 93>AA
atlassian | ATATT3<url 186>
authress | sc_<lower 12>.<lower 5>.acc-<lower 20>.<base64 60>
aws key | AKIA<upper 16>
aws session key | ASIA<upper 16>
aws bedrock | ABSK<base64 128>
aws session token | IQoJb3JpZ2luX2Vj<base64 300>
azure client | <alnum 3>8Q~<alnum 34>
azure storage | AccountKey=<base64 86>==
bitbucket | ATBB<alnum 32>
buildkite | bkua_<hex 40>
cerebras | csk-<lower 48>
circleci | CCIPAT_<alnum 22>_<hex 40>
clickhouse | 4b1d<alnum 38>
clojars | CLOJARS_<lower 60>
cloudflare origin | v1.0-<hex 24>-<hex 146>
contentful | CFPAT-<url 43>
databricks | dapi<hex 32>
databricks numbered | dapi<hex 32>-2
defined networking | dnkey-<lower 26>-<lower 52>
digitalocean | dop_v1_<hex 64>
digitalocean oauth | doo_v1_<hex 64>
digitalocean refresh | dor_v1_<hex 64>
docker | dckr_pat_<url 27>
docker organization | dckr_oat_<url 32>
doppler | dp.pt.<alnum 43>
duffel | duffel_live_<url 43>
dynatrace | dt0c01.<upper 24>.<upper 64>
easypost | EZAK<alnum 54>
easypost test | EZTK<alnum 54>
facebook page | EAAC<alnum 160>
facebook | <digit 15>|<url 27>
figma | figd_<url 40>
fireworks | fw_<alnum 24>
flutterwave | FLWSECK_TEST-<hex 32>-X
fly | fo1_<url 43>
fly macaroon | fm2_<base64 200>
frameio | fio-u-<url 64>
gcp | AIza<url 35>
github | ghp_<alnum 36>
github oauth | gho_<alnum 36>
github user | ghu_<alnum 36>
github server | ghs_<alnum 36>
github refresh | ghr_<alnum 36>
github fine-grained | github_pat_<alnum 22>_<alnum 59>
gitlab | glpat-<url 20>
gitlab routable | glpat-<url 27>.<lower 9>
gitlab deploy | gldt-<url 20>
gitlab feature flags | glffct-<url 20>
gitlab feed | glft-<url 20>
gitlab mail | glimt-<url 25>
gitlab agent | glagent-<url 50>
gitlab oauth | gloas-<url 64>
gitlab trigger | glptt-<hex 40>
gitlab runner | glrt-<url 20>
gitlab runner registration | GR1348941<url 20>
gitlab scim | glsoat-<url 20>
gitlab ci job | glcbt-64_<url 20>
gitlab session | _gitlab_session=<lower 32>
gocardless | live_<url 40>
google oauth | GOCSPX-<url 28>
google access | ya29.<url 150>
google refresh | 1//0<url 100>
grafana | glc_<base64 120>
grafana service account | glsa_<alnum 32>_<hex 8>
grafana key | eyJrIjoi<alnum 90>
groq | gsk_<alnum 52>
harness | pat.<alnum 22>.<alnum 24>.<alnum 20>
hubspot private app | pat-na1-<hex 8>-<hex 4>-<hex 4>-<hex 4>-<hex 12>
huggingface | hf_<letters 34>
huggingface with digits | hf_<alnum 34>
huggingface organization | api_org_<letters 34>
infracost | ico-<alnum 32>
intra42 | s-s4t2ud-<hex 64>
jfrog | AKCp<alnum 69>
jina | jina_<alnum 60>
jwt | eyJhbGciOiJIUzI1NiJ9.eyJzdWIi<alnum 40>.<url 43>
kaggle token | KGAT_<hex 32>
lambda | secret_<lower 24>_<hex 32>.<alnum 32>
langfuse | sk-lf-<hex 8>-<hex 4>-<hex 4>-<hex 4>-<hex 12>
langsmith | lsv2_pt_<hex 32>_<hex 10>
linear | lin_api_<alnum 40>
lob | live_<hex 35>
lob public | test_pub_<hex 31>
mailchimp | mailchimp_api_key := <hex 32>-us12
mailgun | key-<hex 32>
mailgun public | pubkey-<hex 32>
mapbox | pk.eyJ<alnum 58>.<alnum 22>
maxmind | MAXMIND_LICENSE_KEY := <alnum 6>_<alnum 29>_mmk
modal | ak-<alnum 22>
modal secret | as-<alnum 22>
neon | napi_<lower 64>
netlify | nfp_<alnum 36>
newrelic user | NRAK-<upper 27>
newrelic insert | NRII-<url 32>
newrelic browser | NRJS-<hex 19>
notion | ntn_<alnum 46>
npm | npm_<alnum 36>
nvidia | nvapi-<url 64>
octopus | API-<upper 26>
openai project | sk-proj-<url 74>T3BlbkFJ<url 74>
openai legacy | sk-<alnum 20>T3BlbkFJ<alnum 20>
openai service | sk-svcacct-<url 58>T3BlbkFJ<url 58>
openrouter | sk-or-v1-<hex 64>
openshift | sha256~<url 43>
perplexity | pplx-<alnum 48>
pinecone | pcsk_<alnum 6>_<alnum 63>
plaid access | access-sandbox-<hex 8>-<hex 4>-<hex 4>-<hex 4>-<hex 12>
planetscale | pscale_tkn_<url 43>
planetscale oauth | pscale_oauth_<url 43>
planetscale password | pscale_pw_<url 43>
postman | PMAK-<hex 24>-<hex 34>
posthog | phx_<alnum 43>
prefect | pnu_<alnum 36>
pulumi | pul-<hex 40>
pypi | pypi-AgEIcHlwaS5vcmc<url 150>
readme | rdme_<lower 70>
replicate | r8_<alnum 37>
rubygems | rubygems_<hex 48>
runpod | rpa_<upper 40>
scalingo | tk-us-<url 48>
sendgrid | SG.<url 22>.<url 43>
sendinblue | xkeysib-<hex 64>-<alnum 16>
sentry organization | sntrys_eyJpYXQiO<base64 120>_<base64 43>
sentry user | sntryu_<hex 64>
settlemint | sm_pat_<alnum 16>
shippo | shippo_live_<hex 40>
shopify | shpat_<hex 32>
shopify custom | shpca_<hex 32>
shopify private | shppa_<hex 32>
shopify shared | shpss_<hex 32>
slack app | xapp-1-<upper 11>-<digit 13>-<hex 64>
slack bot | xoxb-<digit 12>-<digit 12>-<alnum 24>
slack user | xoxp-<digit 12>-<digit 12>-<digit 12>-<alnum 32>
slack refresh | xoxe-1-<upper 146>
slack configuration | xoxe.xoxp-1-<upper 163>
slack workspace | xoxa-2-<alnum 40>
sourcegraph | sgp_<hex 40>
sourcegraph instance | sgp_<hex 16>_<hex 40>
square | sq0atp-<url 22>
square access | EAAA<url 60>
stripe | sk_live_<alnum 99>
stripe restricted | rk_test_<alnum 24>
stripe webhook | whsec_<alnum 32>
supabase | sbp_<hex 40>
tailscale | tskey-auth-<alnum 17>-<alnum 32>
tavily | tvly-<alnum 32>
telegram | <digit 10>:AA<url 33>
tencent | AKID<alnum 32>
terraform | <alnum 14>.atlasv1.<url 67>
together | tgp_v1_<url 43>
twilio | SK<hex 32>
typeform | tfp_<url 44>_<url 14>
upcloud | ucat_<upper 26>
vault | hvs.<url 95>
vault batch | hvb.<url 160>
voyage | pa-<url 43>
wandb | wandb_v1_<word 77>
xai | xai-<alnum 80>
yandex | t1.<url 60>.<url 86>
yandex key | AQVN<url 36>
discord webhook | https://discord.com/api/webhooks/<digit 18>/<url 68>
slack webhook | https://hooks.slack.com/services/T<upper 10>/B<upper 10>/<alnum 24>
telegram url | https://api.telegram.org/bot<digit 10>:AA<url 33>/sendMessage
teams webhook | https://contoso.webhook.office.com/webhookb2/<hex 8>-<hex 4>-<hex 4>-<hex 4>-<hex 12>@<hex 32>
feishu webhook | https://open.feishu.cn/open-apis/bot/v2/hook/<hex 8>-<hex 4>-<hex 4>-<hex 4>-<hex 12>
ifttt webhook | https://maker.ifttt.com/trigger/done/with/key/<url 43>
password in a URL | https://me:<alnum 16>@host.example/x
database URL | postgresql+psycopg://me:<alnum 20>@db.example:5432/runs
redis URL | redis://:<alnum 24>@cache.example:6379/0
token as a user | https://<alnum 24>@git.example/me/repo.git
registry | me:<alnum 20>@registry.example/image
signed URL | https://b.s3.example/k?X-Amz-Signature=<hex 64>&X-Amz-Expires=900
shared access URL | https://a.blob.example/c?sv=2024-11-04&sig=<alnum 43>
bearer | Authorization: Bearer <url 40>
basic | Authorization: Basic <base64 30>==
own header | X-Api-Key: <alnum 32>
cookie | Set-Cookie: session=<alnum 40>; Path=/
option | tool --api-key <alnum 30> --region x
password option | tool --password=<alnum 14>
mysql | mysql -h db -u root -p<alnum 14> runs
docker login | docker login -u me -p <alnum 20> registry.example
redis-cli | redis-cli -h cache -a <alnum 18> ping
sshpass | sshpass -p <alnum 14> ssh me@host
curl | curl -u me:<alnum 18> https://host.example/x
netrc | machine api.wandb.ai login user password <hex 40>
pgpass | db.example:5432:runs:me:<alnum 16>
openssl | openssl rsa -passin pass:<alnum 16>
aws secret | AWS_SECRET_ACCESS_KEY := <base64 40>
aws secret in a table | SecretAccessKey := <base64 40>
aws session | AWS_SESSION_TOKEN := <base64 200>
aws prompt | AWS Secret Access Key [None] := <base64 40>
wandb key | WANDB_API_KEY := <hex 40>
kaggle key | KAGGLE_KEY := <hex 32>
client key | client-key-data := <base64 200>
password | POSTGRES_PASSWORD := <alnum 16>
camel case | accessToken := <alnum 40>
client secret | client_secret := <alnum 32>
private key id | private_key_id := <hex 40>
encryption key | encryption-key := <base64 43>
ngc | NGC_API_KEY := <base64 84>
adafruit | adafruit := <url 32>
algolia | algolia := <lower 32>
alibaba secret | alibaba := <lower 30>
asana | asana := <lower 32>
atlassian by name | jira := <alnum 24>
beamer | beamer := b_<lower 44>
bitbucket client | bitbucket := <lower 32>
bittrex | bittrex := <lower 32>
cloudflare token | cloudflare := <url 40>
cloudflare global | cloudflare := <hex 37>
codecov | codecov := <hex 8>-<hex 4>-<hex 4>-<hex 4>-<hex 12>
cohere | cohere := <alnum 40>
coinbase | coinbase := <url 64>
confluent | confluent := <alnum 64>
contentful delivery | contentful := <url 43>
datadog | datadog := <lower 40>
discord | discord := <hex 64>
droneci | droneci := <lower 32>
dropbox | dropbox := <lower 15>
dropbox short-lived | dropbox := sl.<url 135>
etsy | etsy := <lower 24>
facebook secret | facebook := <hex 32>
fastly | fastly := <url 32>
finicity | finicity := <lower 20>
finnhub | finnhub := <lower 20>
flickr | flickr := <lower 32>
freshbooks | freshbooks := <lower 64>
gitter | gitter := <url 40>
heroku | heroku := <hex 8>-<hex 4>-<hex 4>-<hex 4>-<hex 12>
intercom | intercom := <url 60>
artifactory | artifactory := <lower 73>
kraken | kraken := <base64 86>==
kucoin | kucoin := <hex 24>
launchdarkly | launchdarkly := <url 40>
linear client | linear := <hex 32>
linkedin | linkedin := <lower 16>
mattermost | mattermost := <lower 26>
meraki | meraki := <hex 40>
messagebird | messagebird := <lower 25>
netlify by name | netlify := <url 43>
newrelic by name | newrelic := <lower 64>
nytimes | nytimes := <url 32>
okta | okta := 00<url 40>
plaid | plaid := <lower 30>
privateai | privateai := <lower 32>
rapidapi | rapidapi := <url 50>
sendbird | sendbird := <hex 40>
sentry by name | sentry := <hex 64>
sidekiq | BUNDLE_GEMS__CONTRIBSYS__COM := <hex 8>:<hex 8>
snyk | snyk := <hex 8>-<hex 4>-<hex 4>-<hex 4>-<hex 12>
sonar | sonar := <url 40>
squarespace | squarespace := <hex 8>-<hex 4>-<hex 4>-<hex 4>-<hex 12>
sumologic | sumo := <alnum 64>
travis | travis := <lower 22>
twitch | twitch := <lower 30>
twitter | twitter := <alnum 50>
zendesk | zendesk := <lower 40>
"""
_DRAWN = re.compile(r"<(\w+) (\d+)>")


@dataclass(frozen=True)
class SecretForm:
    """One form: the text in which the secret stands, or its name and value."""

    id: str
    name: str
    text: str
    secret: str
    """Text from the first drawn character to the last."""


def secret_forms(seed: int) -> list[SecretForm]:
    """Return every form, drawn from the seed."""
    draw = random.Random(seed)
    return [_form(line, draw) for line in SPECS.strip().splitlines()]


def _form(line: str, draw: random.Random) -> SecretForm:
    identifier, _, spec = line.partition(" | ")
    name, is_named, value = spec.rpartition(" := ")
    first = last = 0
    text = ""
    at = 0
    for found in _DRAWN.finditer(value):
        text += value[at : found.start()]
        first = first or len(text) + 1
        text += "".join(draw.choices(SETS[found[1]], k=int(found[2])))
        last = len(text)
        at = found.end()
    text += value[at:]
    return SecretForm(identifier, name if is_named else "", text, text[first - 1 : last])

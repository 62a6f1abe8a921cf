"""Meaning of a refusal by AWS in plain words, and the fix. Needs no AWS library."""

from __future__ import annotations

from dataclasses import dataclass

SIGN_IN = "Sign in again (aws sso login, or aws configure), or set AWS_PROFILE; check with: aws sts get-caller-identity"
_EXPIRED = ("the AWS credentials have expired", SIGN_IN)
_UNKNOWN_KEY = ("AWS does not know the access key, or its secret does not fit", SIGN_IN)
_NO_CREDENTIALS = ("there are no AWS credentials, or only a part of them", SIGN_IN)
_FORBIDDEN = ("AWS forbids it", "Ask for the rights in launcher/iam/aws-policy.json.")
_NO_BUCKET = ("there is no such bucket", "Check its name, or make it with: aws s3 mb s3://NAME")
_BUSY = ("AWS asks to slow down", "Try again in a minute.")
_NO_ANSWER = ("AWS does not answer", "Check the network, and AWS_ENDPOINT_URL where it is set; then try again.")

REFUSALS: dict[str, tuple[str, str]] = {
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "RequestExpired": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "UnauthorizedSSOTokenError": _EXPIRED,
    "SSOTokenLoadError": _EXPIRED,
    "TokenRetrievalError": _EXPIRED,
    "InvalidAccessKeyId": _UNKNOWN_KEY,
    "InvalidClientTokenId": _UNKNOWN_KEY,
    "UnrecognizedClientException": _UNKNOWN_KEY,
    "SignatureDoesNotMatch": _UNKNOWN_KEY,
    "AuthFailure": _UNKNOWN_KEY,
    "NoCredentialsError": _NO_CREDENTIALS,
    "PartialCredentialsError": _NO_CREDENTIALS,
    "CredentialRetrievalError": _NO_CREDENTIALS,
    "ProfileNotFound": ("the AWS profile does not exist", "See: aws configure list-profiles"),
    "NoRegionError": ("no AWS region is set", "Set AWS_REGION, for example us-east-2."),
    "AccessDenied": _FORBIDDEN,
    "AccessDeniedException": _FORBIDDEN,
    "UnauthorizedOperation": _FORBIDDEN,
    "403": _FORBIDDEN,
    "NoSuchBucket": _NO_BUCKET,
    "InvalidBucketName": ("a bucket cannot have this name", "Write s3://bucket/prefix."),
    "PermanentRedirect": ("the bucket is in another region", "Set AWS_REGION to the bucket's region."),
    "Throttling": _BUSY,
    "RequestLimitExceeded": _BUSY,
    "SlowDown": _BUSY,
}
OUTAGES: dict[str, tuple[str, str]] = {
    "EndpointConnectionError": _NO_ANSWER,
    "ConnectTimeoutError": _NO_ANSWER,
    "ReadTimeoutError": _NO_ANSWER,
    "ConnectionClosedError": _NO_ANSWER,
    "ProxyConnectionError": _NO_ANSWER,
    "SSLError": ("the connection to AWS is not trusted", "Check AWS_CA_BUNDLE and the clock of this machine."),
    "InternalError": ("AWS had a fault of its own", "Try again in a minute."),
    "ServiceUnavailable": ("AWS had a fault of its own", "Try again in a minute."),
}


@dataclass(frozen=True)
class AwsProblem:
    """Reason why AWS refused."""

    code: str
    reason: str
    fix: str
    outage: bool
    """True if AWS or the way to it failed; false if the request or the account was wrong."""


def explain(error: Exception) -> AwsProblem:
    """Explain an exception of boto3, by AWS's error code or by the exception's own name."""
    response = getattr(error, "response", None)
    answered = response.get("Error", {}) if isinstance(response, dict) else {}
    code = str(answered.get("Code") or type(error).__name__)
    if code in OUTAGES:
        return AwsProblem(code, *OUTAGES[code], outage=True)
    if code in REFUSALS:
        return AwsProblem(code, *REFUSALS[code], outage=False)
    said = str(answered.get("Message") or error)[:300].strip().rstrip(".")
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) if isinstance(response, dict) else 0
    return AwsProblem(code, f"AWS answered {code}: {said}", "", outage=status >= 500)

# The app for a team: it reads a workspace, spends nothing and needs no credential but that of a run store on S3.
FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7 AS base

FROM base AS build
WORKDIR /src
COPY locks/image.txt locks/image.txt
# Every file is the one that the lock knows by its hash; `make lock` writes it.
RUN python -m pip install --no-cache-dir --require-hashes --requirement locks/image.txt \
    && python -m pip wheel --no-cache-dir --wheel-dir /wheels --require-hashes --requirement locks/image.txt
COPY . .
RUN python -m pip wheel --no-cache-dir --wheel-dir /wheels --no-deps --no-build-isolation .

FROM base
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir --no-index --find-links /wheels 'training-planner[app]' boto3 'streamlit[auth]' \
    && useradd --create-home --uid 10001 planner && mkdir /workspace
USER planner
WORKDIR /home/planner
ENV PLANNER_HOME=/workspace PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["planner", "ui", "--port", "8501", "--listen", "0.0.0.0"]

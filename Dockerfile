# Footnote against real Slack: docker build -t footnote . && docker run --env-file .env -v footnote:/data footnote
# With what loads any other embedding or reranking model, 1.5 GB larger: docker build --target with-torch -t footnote .
FROM python:3.12-slim AS build
WORKDIR /app
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# For `strip`. Debian drops old versions of packages from its mirrors, so a pin would break the next build.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends binutils && rm -rf /var/lib/apt/lists/*
COPY pyproject.toml README.md LICENSE ./
COPY kb kb
COPY ingest ingest
COPY bot bot
# 95 MB that nothing needs: hf-xet (the hub is asked over plain HTTP without it), the runtime's library for programs in C,
# the packages' own tests, and symbols for debuggers. Whatever was stripped must still load.
RUN python -m venv --without-pip /venv \
    && pip --python /venv install --quiet . \
    && pip --python /venv freeze --exclude footnote > installed.txt \
    && pip --python /venv uninstall --quiet --yes hf-xet \
    && rm /venv/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.* \
    && find /venv -type d -name tests -prune -exec rm -r {} + \
    && find /venv -name '*.so' -not -path '*.libs/*' -exec strip --strip-unneeded {} + \
    && find /venv -name '*.so' -exec /venv/bin/python -c 'import ctypes, sys; list(map(ctypes.CDLL, sys.argv[1:]))' {} +

# PyTorch converts the models, and is not in the image.
FROM python:3.12-slim AS models
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# First and as its CPU build, in a layer of its own: it is large and seldom changes. A mirror of your own: --build-arg.
ARG TORCH=torch==2.13.0+cpu
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN python -m venv /venv && /venv/bin/pip install --quiet --index-url "$TORCH_INDEX" "$TORCH"
WORKDIR /app
COPY --from=build /app ./
# The reranker is the hub's; without it the image ranks by words and vectors alone.
RUN /venv/bin/pip install --quiet --constraint installed.txt ".[models]" \
    && /venv/bin/python -m kb.inference.prepare \
    && { /venv/bin/python -m kb.inference.prepare --reranker || echo "WARNING: no reranker in this image" >&2; }

FROM python:3.12-slim AS runtime
# The model client trusts the system's certificates; git tells when a page was edited and fetches repositories, for which it
# needs neither Perl nor its programs for servers and mail: 70 MB.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git \
    && rm -rf /var/lib/apt/lists/* \
    && dpkg-query --show --showformat '${Package}\n' perl 'perl-modules-*' 'libperl5*' liberror-perl > /tmp/perl \
    && xargs --arg-file /tmp/perl dpkg --purge --force-depends \
    && rm /tmp/perl \
    && for program in daemon http-backend http-push imap-send shell; do rm "/usr/lib/git-core/git-$program"; done \
    && rm /usr/lib/git-core/scalar /usr/bin/scalar /usr/bin/git-shell \
    && ln --force --symbolic /usr/bin/git /usr/lib/git-core/git \
    && useradd --create-home --uid 10001 footnote \
    && install -d -o footnote -g footnote -m 0700 /data
# What is fetched from a model hub, or converted, outlives the container.
ENV PATH=/venv/bin:$PATH FOOTNOTE_DATA=/data XDG_CACHE_HOME=/data/cache PYTHONUNBUFFERED=1 ORT_DISABLE_TELEMETRY=1
# Both are behind what the container publishes, which is nothing by itself.
ENV FOOTNOTE_API__PORT=8080 FOOTNOTE_API__HOST=0.0.0.0 FOOTNOTE_SLACK__HOST=0.0.0.0
USER 10001:10001
VOLUME /data
# 8080: the HTTP API, with /ready and /metrics. 3000: only used with SLACK_SIGNING_SECRET; Socket Mode needs no port.
EXPOSE 8080 3000
# By http.client, which no proxy of the environment leads astray: 50 ms, where `footnote status` takes a second of CPU.
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s CMD ["python", "-c", "import http.client, os, sys; \
asked = http.client.HTTPConnection('127.0.0.1', int(os.environ['FOOTNOTE_API__PORT']), timeout=8); \
asked.request('GET', '/ready'); sys.exit(asked.getresponse().status != 200)"]
ENTRYPOINT ["footnote"]
CMD ["serve"]

FROM runtime AS with-torch
COPY --from=models /venv /venv

FROM runtime
COPY --from=build /venv /venv
COPY --from=models /venv/share/footnote /venv/share/footnote
# Ends the build where a model is missing.
RUN ["python", "-m", "kb.inference.prepare"]

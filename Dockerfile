# The image of every process: web, stream, worker, beat. It runs as nobody in particular, on a root
# file system that may be read-only; all that is written lies in /data and /tmp.
FROM python:3.11-slim AS build
WORKDIR /app
RUN python -m venv /venv
COPY requirements.txt .
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.txt
COPY . .
# Whoever checked this out may have kept it to himself; those who run it are others.
RUN chmod -R a+rX /app \
 && /venv/bin/python -m compileall -q /app /venv/lib \
 && MEMCENTER_DATA_DIR=/build /venv/bin/python manage.py collectstatic --no-input --verbosity 0

FROM python:3.11-slim
RUN groupadd --gid 10001 memcenter \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent memcenter \
 && install -d -o memcenter -g memcenter -m 0700 /data /data-ledger
COPY --from=build /venv /venv
COPY --from=build /app /app
COPY --from=build /build/static /static
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 \
    MEMCENTER_DATA_DIR=/data MEMCENTER_STATIC_DIR=/static MEMCENTER_HOST=0.0.0.0
WORKDIR /app
USER 10001:10001
VOLUME ["/data", "/data-ledger"]
EXPOSE 8000
STOPSIGNAL SIGTERM
CMD ["sh", "deploy/web.sh"]

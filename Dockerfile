# docker build -t attention-ledger .
# docker run --rm -v "$PWD/results:/suite/results" -v "$PWD/reports:/suite/reports" attention-ledger
# Arguments after the image's name go to snakemake: docker run --rm ... attention-ledger adaptive_span_table1
# For a GPU: docker build --build-arg TORCH_INDEX=https://pypi.org/simple, and docker run --gpus all
FROM python:3.11-slim

ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
# PYTHONPATH: on Kubernetes the workflow is copied to another folder, and its modules come from the image
ENV PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1 PYTHONPATH=/suite
WORKDIR /suite

# git: records name their commit; gcc: triton compiles its launchers on a GPU; rsync: Snakemake's storage plugin `fs`
RUN apt-get update && apt-get install -y --no-install-recommends git gcc libc6-dev rsync && rm -rf /var/lib/apt/lists/*

# Every package except torch is verified by its hash, as with `make LOCK=1`.
COPY pyproject.toml constraints.txt lock.txt ./
RUN python -m pip install --require-hashes --no-deps --requirement lock.txt \
 && python -m pip install --constraint constraints.txt --extra-index-url "$TORCH_INDEX" torch \
 && python -m pip install --constraint constraints.txt .

COPY . .
RUN git config --global --add safe.directory /suite
ENTRYPOINT ["snakemake"]

# docker build -t attention-ledger .
# docker run --rm -v "$PWD/results:/suite/results" -v "$PWD/reports:/suite/reports" attention-ledger
# What follows the image's name goes to snakemake: docker run --rm ... attention-ledger adaptive_span_table1
# For a GPU: docker build --build-arg TORCH_INDEX=https://pypi.org/simple, and docker run --gpus all
FROM python:3.11-slim

ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
# PYTHONPATH: on Kubernetes the workflow is sent to a folder of its own, and its modules are those of the image
ENV PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1 PYTHONPATH=/suite
WORKDIR /suite

# git: records name the commit that they were made with; gcc: on a GPU, triton compiles its launchers; rsync: for
# Snakemake's storage plugin `fs`
RUN apt-get update && apt-get install -y --no-install-recommends git gcc libc6-dev rsync && rm -rf /var/lib/apt/lists/*

# Every package but torch is checked against its hash, as by `make LOCK=1`.
COPY pyproject.toml constraints.txt lock.txt ./
RUN python -m pip install --require-hashes --no-deps --requirement lock.txt \
 && python -m pip install --constraint constraints.txt --extra-index-url "$TORCH_INDEX" torch \
 && python -m pip install --constraint constraints.txt .

COPY . .
RUN git config --global --add safe.directory /suite
ENTRYPOINT ["snakemake"]

# docker build -t attention-ledger .
# docker run --rm -v "$PWD/results:/suite/results" -v "$PWD/reports:/suite/reports" attention-ledger
# What follows the image's name goes to snakemake: docker run --rm ... attention-ledger adaptive_span_table1
# For a GPU: docker build --build-arg TORCH_INDEX=https://pypi.org/simple, and docker run --gpus all
FROM python:3.11-slim

ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ENV PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1
WORKDIR /suite

# git: records name the commit that they were made with; gcc: on a GPU, triton compiles its launchers
RUN apt-get update && apt-get install -y --no-install-recommends git gcc libc6-dev && rm -rf /var/lib/apt/lists/*

COPY pyproject.toml constraints.txt ./
RUN python -m pip install --constraint constraints.txt --extra-index-url "$TORCH_INDEX" torch \
 && python -m pip install --constraint constraints.txt .

COPY . .
RUN git config --global --add safe.directory /suite
ENTRYPOINT ["snakemake"]

# One image per service: --build-arg SERVICE=edge, executor, taskrunner or zegate.
#
#   docker build --build-arg SERVICE=edge .        builds from source; needs a registry for the golang image
#   make images                                    takes static binaries built on the host; needs no registry
#
# Either way the image holds one static binary, no shell and nothing else.

# Binaries built on the host. The first stage, so that builders that build stages in order stop here.
FROM scratch AS host
ARG SERVICE
ARG VERSION=dev
LABEL org.opencontainers.image.title="zegate-${SERVICE}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --chown=65532:65532 bin/images/${SERVICE}/ /
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/service"]
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s --retries=3 CMD ["/service", "healthcheck"]

# Binaries built from source.
FROM golang:1.26 AS build
ARG SERVICE
ARG VERSION=dev
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN mkdir -p /image/data && CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/zegate/zegate/pkg/lifecycle.version=${VERSION}" -o /image/service ./cmd/${SERVICE}

FROM scratch
ARG SERVICE
ARG VERSION=dev
LABEL org.opencontainers.image.title="zegate-${SERVICE}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build --chown=65532:65532 /image/ /
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/service"]
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s --retries=3 CMD ["/service", "healthcheck"]

# The ways to build, check and run this project. `make help` lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The version that every binary carries; a release changes it together with CHANGELOG.md.
VERSION ?= v0.1.0
SERVICES := edge executor taskrunner
PROGRAMS := zegate ze-test $(SERVICES)
LDFLAGS := -s -w -X github.com/zegate/zegate/pkg/lifecycle.version=$(VERSION)
GOBUILD := CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)'

# Programs that check the project: built once from tools/go.mod, and again when it changes.
BUF := bin/tools/buf
LINT := bin/tools/golangci-lint

# The contract that a change is held against.
BREAKING_AGAINST ?= $(shell git rev-parse -q --verify origin/main || git rev-parse -q --verify main || git rev-parse HEAD)

# Where the revision's JSON schemas lie: every answer that a test sees is checked against them. Without them the tests say that the check is off.
export ZEGATE_MCP_SCHEMA_DIR ?= $(realpath ../shared/spec)

# Everything that needs more than Go: daemons, Node, a container engine. .ci/run installs them.
ALL_TAGS := integration,e2e,compose,conformance
FUZZTIME ?= 30s

##@ Use
.PHONY: run
run: bin/zegate ## start everything on loopback, with the lab as the device (ARGS="--listen ...")
	@exec bin/zegate $(ARGS)

.PHONY: test
test: ## run the tests that need nothing but Go
	go test ./...

.PHONY: build
build: $(PROGRAMS:%=bin/%) ## build every program into bin/

.PHONY: $(PROGRAMS:%=bin/%)
$(PROGRAMS:%=bin/%): bin/%:
	@$(GOBUILD) -o $@ ./cmd/$*

.PHONY: images
images: ## build an image per service from static binaries built here; needs a container engine, no registry
	@for service in $(SERVICES); do \
	  GOOS=linux $(GOBUILD) -o bin/images/$$service/service ./cmd/$$service; \
	  mkdir -p bin/images/$$service/data; \
	  docker build --quiet --target host --build-arg SERVICE=$$service --build-arg VERSION=$(VERSION) \
	    --tag zegate/$$service:$(VERSION) --tag zegate/$$service:latest . ; \
	done

##@ Change
.PHONY: generate
generate: $(BUF) ## generate Go from the contracts
	$(BUF) generate

.PHONY: format
format: $(BUF) $(LINT) ## format contracts and Go
	$(BUF) format --write
	$(LINT) fmt

.PHONY: tidy
tidy: ## make go.mod list what is used
	go mod tidy
	cd tools && go mod tidy

.PHONY: lint
lint: $(BUF) $(LINT) ## find faults in contracts and Go
	$(BUF) lint
	$(LINT) run

.PHONY: breaking
breaking: $(BUF) ## find changes of the contracts that break who uses them
	@rm -rf bin/breaking && mkdir -p bin/breaking
	@git archive $(BREAKING_AGAINST) buf.yaml proto | tar -x -C bin/breaking
	$(BUF) breaking --against bin/breaking

.PHONY: race
race: ## run the tests with the race detector
	go test -race ./...

.PHONY: check
check: ## what a change must pass: generated, formatted, tidy, linted, compatible, free of races
	@before=$$(git diff HEAD | git hash-object --stdin); $(MAKE) --no-print-directory generate format tidy; \
	  after=$$(git diff HEAD | git hash-object --stdin); \
	  if [ "$$before" != "$$after" ]; then git diff --stat HEAD; echo "check: generate, format or tidy changed files: commit what they made" >&2; exit 1; fi
	@$(MAKE) --no-print-directory lint breaking race

##@ Test more
.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (30s)
	@grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do \
	  for target in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/p' "$$file"); do \
	    echo "fuzz $$(dirname $$file) $$target"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$(dirname $$file)" < /dev/null; \
	  done; \
	done

.PHONY: e2e
e2e: ## end-to-end tests against real processes; needs Node (npm ci in test/node) and nginx
	go test -count=1 -tags e2e ./test/...

.PHONY: test-all
test-all: ## every test there is; .ci/run installs what they need
	go test -count=1 -p 1 -timeout 20m -tags $(ALL_TAGS) ./...

##@ Other
.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BUF): tools/go.mod
	cd tools && go build -o ../$@ github.com/bufbuild/buf/cmd/buf

$(LINT): tools/go.mod
	cd tools && go build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# The fast loop is "make test"; "make check" is what a change must pass.

.PHONY: build test check bench dist release wheel python readme-long clean

build: # the program, without a C compiler
	CGO_ENABLED=0 go build -o mafalda ./cmd/mafalda

test: # while working: formatting, vet, and the quick tests
	@test -z "$$(git ls-files '*.go' | xargs gofmt -l | tee /dev/stderr)"
	go vet ./...
	go test -short ./...

check: # everything
	bash .ci/run

bench: # the paper's problem, and the kernels; compare two runs with benchstat
	go test -run '^$$' -bench . -benchmem ./benchmarks ./internal/gemm

python: # the functions of the Python package, of the program's commands, and its table of the keys of manifests
	go run ./.ci/schema >python/mafalda/schema.json
	go run ./cmd/mafalda describe >python/commands.json
	cd python && python3 generate.py

dist: # what is released: programs and wheels for all platforms, checksums
	.ci/dist dist

release: # make release VERSION=0.2.0: one number for program, package, wheel, citation and changelog, committed and tagged
	.ci/release "$(VERSION)"

wheel: # the Python package with the program of this platform inside
	@echo "compiling the program: some minutes the first time"
	.ci/dist dist --wheel "$$(go env GOHOSTOS)/$$(go env GOHOSTARCH)"
	@echo "now: pip install $$(ls -t dist/mafalda-*.whl | head -n 1)"

readme-long: # every command of README.md and docs/guide.md, also those that take minutes
	.ci/readme long

clean:
	rm -f mafalda

# Needs only make and Python 3.13 or 3.11 (with venv). Everything else is in noxfile.py, which also runs without make:
#   python -m pip install nox && python -m nox -s demo
.PHONY: demo test lint package window docs examples benchmarks tick clean

demo: .venv/nox
	.venv/bin/python -m nox -s demo

test: .venv/nox
	.venv/bin/python -m nox -s tests

lint package window docs examples benchmarks tick: .venv/nox
	.venv/bin/python -m nox -s $@

clean:
	rm -rf .nox .venv build dist

# Blender 5.2 has Python 3.13, Blender 4.5 has Python 3.11: the newest of the two that is here runs nox.
.venv/nox: Makefile
	@for python in $(PYTHON) python3.13 python3.11 python3 python; do \
	    $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info[:2] not in ((3, 13), (3, 11)))' 2>/dev/null \
	        && { echo "Poise: setting up .venv with $$python"; break; }; \
	    python=; \
	done; \
	[ -n "$$python" ] || { echo "Poise needs Python 3.13 or 3.11 with venv; PYTHON=path names one."; exit 1; }; \
	$$python -m venv --clear .venv && .venv/bin/python -m pip install --quiet 'nox>=2026.4'
	@touch $@

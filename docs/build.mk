# SPDX-License-Identifier: MIT

.PHONY: docs
docs: ## write the tables of docs/spec and docs/files.md from their sources
	$(Q)tools/docs/gen

$(eval $(call ppu_script_test,docs-tables,tools/docs/gen --check,))

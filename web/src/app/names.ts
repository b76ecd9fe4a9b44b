// SPDX-License-Identifier: Apache-2.0
// Names of rows, fetched a page at a time when one is needed.
import { computed } from "@preact/signals";
import type { Store } from "./store";

const kPage = 1000;

export class Names {
  private readonly pages = new Map<number, string[] | null>(); // null: being fetched

  constructor(private readonly store: Store) {}

  // The name, or "row 12" until it is here; reading it inside a component subscribes to its arrival.
  of(row: number): string {
    void this.store.namesVersion.value;
    const page = Math.floor(row / kPage);
    const names = this.pages.get(page);
    if (names) return names[row - page * kPage] ?? `row ${row}`;
    if (names === undefined) void this.fetch(page);
    return `row ${row}`;
  }

  // All names, fetched when first wanted.
  fetchAll(): void {
    const n = this.store.collection.value?.n ?? 0;
    for (let page = 0; page * kPage < n; ++page) if (this.pages.get(page) === undefined) void this.fetch(page);
  }

  // All names; null until they are here.
  readonly all = computed(() => {
    void this.store.namesVersion.value;
    const n = this.store.collection.value?.n ?? 0;
    const all: string[] = [];
    for (let page = 0; page * kPage < n; ++page) {
      const names = this.pages.get(page);
      if (!names) return null;
      all.push(...names);
    }
    return all;
  });

  private async fetch(page: number): Promise<void> {
    this.pages.set(page, null);
    try {
      this.pages.set(page, await this.store.source.names(page * kPage, kPage));
      this.store.namesVersion.value += 1;
    } catch {
      window.setTimeout(() => this.pages.delete(page), 2000);
    }
  }
}

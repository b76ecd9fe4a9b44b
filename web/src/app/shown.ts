// SPDX-License-Identifier: Apache-2.0
// Which rows of the scene are shown, in which order: the criteria and orders of model/, applied to
// what the page knows.
import { computed } from "@preact/signals";
import { criteriaCount, meets } from "../model/criteria";
import { nameRanks, type Facts } from "../model/order";
import type { Columns } from "../model/types";
import type { Names } from "./names";
import type { Store } from "./store";

const kNoTags: readonly string[] = [];

// Whether a row is shown, by its position in the columns; null: all are.
export function shownPositions(store: Store, names: Names, columns: Columns): Uint8Array | null {
  const criteria = store.criteria.value;
  if (!criteria.text.trim() && criteriaCount(criteria) === 0) return null;
  const { tags } = store.corrections.value.now;
  const classes = store.collection.value!.classes;
  const files = store.files.value;
  return Uint8Array.from(columns.rows, (row, i) => Number(meets({
    name: names.of(row), tags: tags.get(row) ?? kNoTags, className: classes[store.classes.value[row]]?.name ?? "",
    margin: columns.margins ? columns.margins[i] : NaN, bytes: files ? known(files[2 * row]) : NaN, seconds: files ? known(files[2 * row + 1]) : NaN,
  }, criteria)));
}

const known = (value: number) => (value < 0 ? NaN : value);

// Ranks of the names, once all of them are here.
export function createNameRanks(names: Names) {
  return computed(() => { const all = names.all.value; return all && nameRanks(all); });
}

export function orderFacts(store: Store, ranks: Int32Array | null, columns: Columns, labels: Int32Array): Facts {
  const { tags } = store.corrections.value.now;
  const files = store.files.value, nearest = store.nearest.value;
  const of = (value: (row: number) => number) => Float64Array.from(columns.rows, value);
  const last = (index: number) => (index < 0 ? NaN : index);
  return {
    row: null, margin: columns.margins, part: Float64Array.from(labels, last),
    name: ranks && of((row) => ranks[row]), class: of((row) => last(store.classes.value[row])),
    nearest: nearest && of((row) => nearest[row]), tags: of((row) => (tags.get(row)?.length ? -tags.get(row)!.length : 0)),
    size: files && of((row) => known(files[2 * row])), date: files && of((row) => known(files[2 * row + 1])),
  };
}

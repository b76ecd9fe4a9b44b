// SPDX-License-Identifier: Apache-2.0
// The left panel: what to split, against which context, how; and the runs so far.
import { automaticParts, needsContext, partsField, simplestClusters, unmetNeed } from "../model/form";
import { isEmptySet } from "../model/rows";
import type { Field, Value } from "../model/types";
import { Stepper } from "../component/controls";
import { Icon } from "../component/icon";
import { useApp } from "./app_context";
import { AdviceEntry } from "./advice_view";
import { FeaturePicker } from "./feature_picker";
import { OptionsForm } from "./options_form";
import { RowSetPicker } from "./row_set_picker";
import { RunHistory } from "./run_history";

const kFewParts = 2;

export function ChoosePanel() {
  const { store } = useApp();
  return (
    <aside class="panel" aria-label="Choose and run" id="panel">
      {store.source.can.spaces && <FeaturePicker />}
      {store.source.can.run && <ChooseForm />}
      {store.source.can.run && <AdviceEntry />}
      <RunHistory />
    </aside>
  );
}

function ChooseForm() {
  const { store, actions } = useApp();
  const method = store.method.value;
  const parts = method && partsField(method);
  const things = store.collection.value!.kind === "images" ? "Images" : "Rows";
  const canRank = !!method?.ranks_contexts && !isEmptySet(store.set.value) && !store.set.value.rest;
  const run = (event: Event) => {
    event.preventDefault();
    if (!store.problem.value && !store.isStarting.value) void actions.start();
  };
  return (
    <form class="choose" onSubmit={run} aria-label="New run">
      <RowSetPicker title={`${things} to split`} hint="The set that is divided into parts" value={store.set.value} size={store.setRows.value.length}
                    taken={store.context.value} restTitle={needsContext(method) ? "" : "Everything"} onChange={(value) => { store.set.value = value; }} />
      {needsContext(method) && store.collection.value!.classes.length === 0 && isEmptySet(store.set.value) && <FlatHint />}
      {method?.takes_context &&
        <RowSetPicker title={`${things} to compare with`} hint={needsContext(method) ? "The context: what the parts must differ from" : "Optional: a context in place of classes"} value={store.context.value}
                      size={store.contextRows.value.length} taken={store.set.value} restTitle="Everything else"
                      onChange={(value) => { store.context.value = value; }} />}
      <div class="row-of-two">
        <MethodSelect />
        {parts && <PartsInput field={parts} />}
      </div>
      {method && <p class="hint method-summary">{method.summary}</p>}
      <OptionsForm />
      <div class="run-row">
        <button type="submit" class="button primary" disabled={!!store.problem.value || store.isStarting.value}
                aria-describedby="run-problem" data-testid="run"><Icon name="play" size={16} />Run</button>
        {method?.ranks_contexts &&
          <button type="button" class="button" disabled={!canRank || store.isStarting.value} data-testid="rank"
                  title="Try every other class as context and rank them" onClick={() => void actions.start({ rank_contexts: true, context: undefined })}>
            <Icon name="rank" size={16} />Rank contexts</button>}
      </div>
      <p class="hint run-problem" id="run-problem" role="status">{store.problem.value}</p>
    </form>
  );
}

// How many parts: a number, or what the method calls finding it itself (a word, or 0).
function PartsInput({ field }: { field: Field }) {
  const { store } = useApp();
  const set = (value: Value) => { store.options.value = { ...store.options.value, num_clusters: value }; };
  const automatic = automaticParts(field);
  const wanted = store.numPartsWanted.value;
  const isAutomatic = automatic !== undefined && wanted === automatic;
  return (
    <div class="field"><label for="num-parts">Parts</label>
      <Stepper id="num-parts" label="Parts" value={isAutomatic ? null : Number(wanted)} min={Math.max(1, field.min ?? 1)} max={field.max ?? 999} onChange={set} />
      {automatic !== undefined &&
        <label class="check"><input type="checkbox" checked={isAutomatic} data-testid="auto-parts"
          onChange={(event) => set(event.currentTarget.checked ? automatic : kFewParts)} />automatic</label>}
    </div>
  );
}

// A collection without classes: where a set can come from.
function FlatHint() {
  const { store } = useApp();
  const other = simplestClusters(store.methods.value, store.collection.value!);
  return (
    <p class="hint" data-testid="flat-hint">There are no classes here. Select images on the map or in the gallery and choose <em>Use as … set to split</em>
      {other && <>, or <button type="button" class="link-button" onClick={() => { store.methodName.value = other.name; store.set.value = { rest: true }; }}>find clusters first</button> and
        use one of them as the set</>}.</p>
  );
}

function MethodSelect() {
  const { store } = useApp();
  const choose = (event: Event) => {
    store.methodName.value = (event.currentTarget as HTMLSelectElement).value;
    const { method, set, collection } = store;
    if (needsContext(method.value) && set.value.rest) set.value = {}; // everything has no context
    else if (method.value && !needsContext(method.value) && isEmptySet(set.value) && !collection.value!.classes.length) set.value = { rest: true };
    const parts = store.options.value.num_clusters;
    store.options.value = parts === undefined ? {} : { num_clusters: parts };
  };
  return (
    <div class="field">
      <label for="method">Method</label>
      <select id="method" value={store.methodName.value} onChange={choose}>
        {store.methods.value.map((m) => (
          <option key={m.name} value={m.name} disabled={!!unmetNeed(m, store.collection.value!)} title={m.title}>
            {m.name}{unmetNeed(m, store.collection.value!) && ` (${unmetNeed(m, store.collection.value!)})`}
          </option>
        ))}
      </select>
    </div>
  );
}

// SPDX-License-Identifier: Apache-2.0
// The run in figures: objective curve, summary, warnings, the command that reproduces it.
import { number, seconds } from "../model/text";
import { Curve } from "../component/charts";
import { CopyLine } from "../component/copy_line";
import { useApp } from "./app_context";

const kShownAbove = new Set(["warnings", "objective_trace", "trace", "method", "sizes", "restart_objectives"]);

export function DetailsView() {
  const { store, actions } = useApp();
  const { detail } = store.opened.value!;
  const warnings = Array.isArray(detail.summary.warnings) ? detail.summary.warnings.map(String) : [];
  const entries = Object.entries(detail.summary).filter(([key, v]) => !kShownAbove.has(key) && isPlain(v));
  return (
    <section class="details-view" aria-label="Details">
      {warnings.length > 0 && <section class="block warnings"><h2>Warnings</h2><ul>{warnings.map((w) => <li key={w}>{w}</li>)}</ul></section>}
      <section class="block">
        <h2>Command line</h2>
        <p class="hint">Reproduces these labels.</p>
        <CopyLine text={detail.command} label="Command line" />
        {store.source.can.run && <p class="details-again"><button type="button" class="button" onClick={() => {
          actions.copyToForm(detail.request);
          store.isPanelOpen.value = true;
        }}>Copy these options to the form</button></p>}
      </section>
      {detail.trace.length > 1 && <section class="block"><h2>Objective</h2>
        <Curve label="Objective" xTitle="iteration" yTitle="objective" points={detail.trace.map((y, x) => ({ x: x + 1, y }))} /></section>}
      <section class="block">
        <h2>Summary</h2>
        <dl class="facts">
          <dt>Time</dt><dd>{seconds(detail.seconds)}</dd>
          {entries.map(([key, value]) => <FactLine key={key} name={key} value={value} />)}
        </dl>
      </section>
    </section>
  );
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.length <= 24 && value.every((v) => typeof v !== "object");
  return value !== null && (typeof value !== "object" || Object.values(value).every((v) => typeof v !== "object"));
}

function FactLine({ name, value }: { name: string; value: unknown }) {
  return <><dt>{name.replace(/_/g, " ")}</dt><dd>{factText(value)}</dd></>;
}

function factText(value: unknown): string {
  if (typeof value === "number") return number(value, 6);
  if (Array.isArray(value)) return value.map(factText).join(", ") || "none";
  if (value && typeof value === "object") return Object.entries(value).map(([k, v]) => `${k} ${factText(v)}`).join(", ");
  return String(value);
}

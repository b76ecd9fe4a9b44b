// SPDX-License-Identifier: Apache-2.0
// The explorer's page: names the collection. The views grow from here.
import "./style.css";

async function show(): Promise<void> {
  const app = document.getElementById("app");
  if (app === null) return;
  const answer = await fetch("/api/collection");
  const collection = (await answer.json()) as { name?: string; n?: number; error?: string };
  app.textContent = collection.error ?? `${collection.name}: ${collection.n} rows`;
}

void show();

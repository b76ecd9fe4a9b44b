// SPDX-License-Identifier: Apache-2.0
// One script and one style with fixed names: the program holds them, and report.html holds them inline.
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    target: "es2022",
    assetsInlineLimit: 1 << 20,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    emptyOutDir: true,
    rollupOptions: {
      output: {
        inlineDynamicImports: true,
        entryFileNames: "assets/app.js",
        assetFileNames: "assets/app[extname]",
      },
    },
  },
});

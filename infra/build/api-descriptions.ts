import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

/**
 * Makes the OpenAPI documents while bundling: the functions that show them carry the text, and neither the tables and
 * schemas of all others nor what turns those into JSON schemas.
 */
export const apiDescriptions: Plugin = {
  name: 'api-descriptions',
  setup: (build) => {
    build.onLoad({ filter: /[\\/]functions[\\/](?:public|dashboard)-api\.ts$/ }, async ({ path }) => {
      const documents = (await import(pathToFileURL(path).href)) as Readonly<Record<string, () => unknown>>;
      const contents = Object.entries(documents).map(
        ([name, make]) => `export const ${name} = () => JSON.parse(${JSON.stringify(JSON.stringify(make()))});`,
      );
      return { contents: contents.join('\n') };
    });
  },
};

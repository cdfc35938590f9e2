import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

/**
 * Generates the OpenAPI documents at build time, so that the functions that return them bundle the text only, not all
 * route tables and schemas.
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

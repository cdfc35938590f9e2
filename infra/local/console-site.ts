import type { ServerResponse } from 'node:http';
import {
  type ConsolePlaces,
  consoleCacheControl,
  consoleFileAt,
  consolePolicy,
  docsPolicy,
  isDocs,
  pageHeaders,
} from '../../shared/http/console-headers.ts';
import type { ConsoleFile } from '../build/console.ts';

/** Responds to a GET outside the API. Returns false if the site has no page for the path. */
export type ServeSite = (path: string, accept: string, response: ServerResponse) => boolean;

const send = (response: ServerResponse, { type, bytes, immutable }: ConsoleFile, policy: string): void => {
  response
    .writeHead(200, {
      'content-type': type,
      'content-length': bytes.length,
      'cache-control': consoleCacheControl(immutable),
      ...pageHeaders(policy),
    })
    .end(bytes);
};

const sendIfFound = (response: ServerResponse, file: ConsoleFile | undefined, policy: string): void => {
  if (file) send(response, file, policy);
  else response.writeHead(404).end();
};

const fail = (response: ServerResponse, error: unknown): void => {
  response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`The console could not be built.\n\n${error instanceof Error ? error.message : String(error)}\n`);
};

interface Site {
  readonly files: ReadonlyMap<string, ConsoleFile>;
  readonly policy: string;
}

/** Serves the console next to the dashboard API. Builds it on the first request. */
export const consoleSite = (addresses: Promise<ConsolePlaces>, assistant: boolean): ServeSite => {
  const build = async (): Promise<Site> => {
    const places = await addresses;
    const { buildConsole } = await import('../build/console.ts');
    const files = await buildConsole(places.api, assistant);
    return { files: new Map(files.map((file) => [file.path, file])), policy: consolePolicy(places) };
  };
  const docs = async (place: string): Promise<ConsoleFile | undefined> => {
    const { docsFile } = await import('../build/docs.ts');
    return docsFile(place);
  };
  let site: Promise<Site> | undefined;
  return (path, accept, response) => {
    if (path === '/api' || path.startsWith('/api/')) return false;
    const place = consoleFileAt(path, accept);
    if (place === undefined) return false;
    if (isDocs(path)) {
      docs(place).then(
        (file) => sendIfFound(response, file, docsPolicy),
        (error: unknown) => fail(response, error),
      );
      return true;
    }
    site ??= build();
    site.then(
      ({ files, policy }) => sendIfFound(response, files.get(place), policy),
      (error: unknown) => {
        site = undefined;
        fail(response, error);
      },
    );
    return true;
  };
};

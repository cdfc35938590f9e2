import type { RequestListener } from 'node:http';

/** A file of the example, by its path there. */
export interface ExampleFile {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** Serves the example's files. */
export const exampleSite = (files: readonly ExampleFile[]): RequestListener => {
  const known = new Map(files.map((file) => [file.path, file]));
  return ({ method, url = '/' }, response) => {
    const file = known.get(url.split(/[?#]/)[0] ?? '');
    if (!file || method !== 'GET') {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('There is nothing here.');
      return;
    }
    const kept = { 'content-type': file.type, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' };
    response.writeHead(200, kept).end(file.bytes);
  };
};

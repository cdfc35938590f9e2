import type { RequestListener, ServerResponse } from 'node:http';
import { receiveBody } from '../request-body.ts';

/** A file of the example, by its path there. */
export interface ExampleFile {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const say = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
};

/** The example's files, and `POST /pictures`, which its server sees to. */
export const exampleSite = (
  files: readonly ExampleFile[],
  keepPicture: (request: Request) => Promise<Response>,
): RequestListener => {
  const known = new Map(files.map((file) => [file.path, file]));
  return (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const file = known.get(url.split(/[?#]/)[0] ?? '');
    if (file && method === 'GET') {
      const kept = { 'content-type': file.type, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' };
      response.writeHead(200, kept).end(file.bytes);
      return;
    }
    if (method !== 'POST' || url !== '/pictures') return say(response, 404, 'There is nothing here.');
    receiveBody(request, (body) => {
      if (body === 'too large') return say(response, 413, 'Pictures may have 5 MB.');
      const { authorization = '', 'content-type': type = '' } = headers;
      const given = new Request('http://example/pictures', {
        method,
        headers: { authorization, 'content-type': type },
        body: body ? new Uint8Array(body) : null,
      });
      keepPicture(given)
        .then(async (answer) => say(response, answer.status, await answer.text()))
        .catch((error: unknown) => say(response, 502, error instanceof Error ? error.message : String(error)));
    });
  };
};

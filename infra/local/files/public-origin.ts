import type { KeyObject } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { posix } from 'node:path';
import {
  fileCacheControl,
  fileDisposition,
  fileHeaders,
  linkCacheControl,
} from '../../../shared/files/file-headers.ts';
import { isSigned } from '../../../shared/files/signed-links.ts';
import type { Emulation } from './emulation.ts';
import type { LeadToSize } from './sizes.ts';

/** Paths of files have no other characters; no part of one is `.` or `..`. */
const filePath = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)+$/;

const text = (response: ServerResponse, status: number, words: string, more: OutgoingHttpHeaders = {}): void => {
  const body = `${words}\n`;
  response
    .writeHead(status, {
      ...fileHeaders,
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'content-length': body.length,
      ...more,
    })
    .end(response.req.method === 'HEAD' ? undefined : body);
};

const noFile = 'File not found.';

/** A refusal in the envelope. */
const refuse = (response: ServerResponse, status: number, body: string): void => {
  response
    .writeHead(status, { ...fileHeaders, 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(response.req.method === 'HEAD' ? undefined : body);
};

const isUnchanged = ({ headers }: IncomingMessage, etag: string, lastModified: string): boolean => {
  const { 'if-none-match': known, 'if-modified-since': since } = headers;
  if (known !== undefined) {
    return known.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
  }
  return since !== undefined && Date.parse(lastModified) <= Date.parse(since);
};

/** The bytes asked for, both ends included; the whole file where one range is not what is asked for. */
const rangeOf = ({ headers }: IncomingMessage, etag: string, size: number) => {
  const { range, 'if-range': ifRange } = headers;
  const match = /^bytes=(\d*)-(\d*)$/.exec(range ?? '');
  const [, first = '', last = ''] = match ?? [];
  if ((first === '' && last === '') || (ifRange !== undefined && ifRange !== etag)) return 'whole';
  if (first !== '' && last !== '' && Number(last) < Number(first)) return 'whole';
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start > end ? 'none' : { start, end };
};

/** What opens links to private files: the address that was signed, without its path, and the keys by their ids. */
interface LinkCheck {
  readonly origin: string;
  readonly keys: ReadonlyMap<string, KeyObject>;
}

/** Addresses that open by a signature alone. */
const needsLink = /^\/private\//;

/**
 * The origin of files, as the deployment's is: `/<path>` is the object at `<bucket>/files/<path>` and, for who has a
 * signed link, `/private/<path>` that at `<bucket>/private/<path>`; for `GET` and `HEAD` alone, with headers that keep
 * whatever is in it from acting as a page. `toSize` has sizes of pictures made that are not there.
 */
export const createPublicOrigin = (
  emulation: Pick<Emulation, 'head' | 'send'>,
  root: string,
  links?: LinkCheck,
  toSize?: LeadToSize,
): Server => {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [asked = '/', query = ''] = (request.url ?? '/').split('?', 2);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      text(response, 403, 'Only GET and HEAD are allowed.');
      return;
    }
    const isLink = links !== undefined && needsLink.test(asked);
    if (isLink && !isSigned(`${links.origin}${request.url}`, links.keys, Date.now())) {
      text(response, 403, 'This file is private, and this is no valid link to it: it was changed, or has expired.');
      return;
    }
    const folder = isLink ? posix.dirname(root) : root;
    const led = toSize?.lead(asked, query) ?? { path: asked, status: 200, body: '' };
    if (led.status !== 200) {
      refuse(response, led.status, led.body);
      return;
    }
    const { path } = led;
    const url = `${folder}${path}`;
    const look = async () => (filePath.test(path) && path.length < 300 ? emulation.head(url) : undefined);
    let found = await look();
    if (!found && path !== asked) {
      const made = await toSize?.make(path, isLink ? 'private' : 'public');
      found = await look();
      if (made && !found) {
        const type = made.contentType;
        const isMade = made.status === 200;
        const cacheControl = isMade ? (isLink ? linkCacheControl : fileCacheControl) : 'no-store';
        const more = { ...made.headers, 'cache-control': cacheControl, 'content-type': type };
        response.writeHead(made.status, { ...fileHeaders, ...more, 'content-length': made.body.length });
        response.end(request.method === 'HEAD' ? undefined : made.body);
        return;
      }
    }
    if (!found) {
      text(response, 404, noFile);
      return;
    }
    const { etag = '', 'last-modified': lastModified = '', 'content-type': type = '' } = found;
    const size = Number(found['content-length']);
    const disposition = fileDisposition(type, found['content-disposition']);
    const head = {
      ...fileHeaders,
      'accept-ranges': 'bytes',
      'cache-control': isLink ? linkCacheControl : fileCacheControl,
      'content-type': type,
      ...(disposition ? { 'content-disposition': disposition } : {}),
      ...(found['content-encoding'] ? { 'content-encoding': found['content-encoding'] } : {}),
      etag,
      'last-modified': lastModified,
    };
    if (isUnchanged(request, etag, lastModified)) {
      response.writeHead(304, head).end();
      return;
    }
    const range = rangeOf(request, etag, size);
    if (range === 'none') {
      text(response, 416, 'The file has no such bytes.', { 'content-range': `bytes */${size}` });
      return;
    }
    const { start, end } = range === 'whole' ? { start: 0, end: size - 1 } : range;
    const part = range === 'whole' ? {} : { 'content-range': `bytes ${start}-${end}/${size}` };
    const status = range === 'whole' ? 200 : 206;
    const whole = { ...head, 'content-length': end - start + 1, ...part };
    if (request.method === 'HEAD') {
      response.writeHead(status, whole).end();
      return;
    }
    const ranged = range === 'whole' ? {} : { range: `bytes=${start}-${end}` };
    const content = await emulation.send({ method: 'GET', url, headers: { ...ranged, 'if-match': etag } });
    if (content.statusCode !== status) {
      content.resume();
      if (await look()) throw new Error('The file is there and could not be read');
      // It was deleted since it was looked at.
      text(response, 404, noFile);
      return;
    }
    response.writeHead(status, whole);
    content.on('error', () => response.destroy()).pipe(response);
  };

  return createServer((request, response) => {
    serve(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else text(response, 500, 'The file could not be read.');
    });
  });
};

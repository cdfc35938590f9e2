import { type KeyObject, randomUUID } from 'node:crypto';
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
import type { Visibility } from '../../../shared/files/file-items.ts';
import { parametersIn, visibilityHeader } from '../../../shared/files/images/variant.ts';
import { type FileRoute, routeFileRequest } from '../../../shared/files/images/variant-url.ts';
import { isSigned } from '../../../shared/files/signed-links.ts';
import { keepAliveMs } from '../ports.ts';
import type { Emulation } from './emulation.ts';

/** The function that creates image variants. It only accepts requests of `caller`. */
export interface VariantFunction {
  readonly url: string;
  readonly caller: string;
}

interface CreatedVariant {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** CloudFront's part in image variants. */
interface ImageVariants {
  /** Rewrites an address with size parameters to the path of the stored variant. */
  resolve(path: string, query: string): FileRoute;
  /** Calls the function for a variant that is not stored yet. */
  create(path: string, readers: Visibility): Promise<CreatedVariant>;
}

const invoke = async ({ url, caller }: VariantFunction, path: string, readers: Visibility): Promise<CreatedVariant> => {
  const response = await fetch(`${url}${path}`, { headers: { authorization: caller, [visibilityHeader]: readers } });
  const retryAfter = response.headers.get('retry-after');
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? 'application/json',
    headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
    body: Buffer.from(await response.arrayBuffer()),
  };
};

/** Concurrent requests for the same variant share one call of the function, as with CloudFront. */
export const imageVariantsBy = (variantFunction: VariantFunction): ImageVariants => {
  const running = new Map<string, Promise<CreatedVariant>>();
  return {
    resolve: (path, query) => routeFileRequest(path, parametersIn(query), randomUUID()),
    create: (path, readers) => {
      const call = running.get(path) ?? invoke(variantFunction, path, readers).finally(() => running.delete(path));
      running.set(path, call);
      return call;
    },
  };
};

/** The characters of file paths, without segments `.` and `..`. */
const filePath = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)+$/;

const sendText = (response: ServerResponse, status: number, text: string, more: OutgoingHttpHeaders = {}): void => {
  const body = `${text}\n`;
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

const notFound = 'File not found.';

/** Sends an error of image variants in the API's envelope. */
const sendError = (response: ServerResponse, status: number, body: string): void => {
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

/** The requested bytes, both ends included; `whole` unless exactly one valid range is requested. */
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

/** The origin that signed links begin with, and the public keys by their ids. */
interface LinkCheck {
  readonly origin: string;
  readonly keys: ReadonlyMap<string, KeyObject>;
}

/** Paths that need a signed link. */
const needsLink = /^\/private\//;

/**
 * Serves files like the CloudFront distribution of a deployment: `/<path>` is the object `<bucket>/files/<path>`, and
 * with a signed link, `/private/<path>` is `<bucket>/private/<path>`. Headers prevent a file from acting as a page.
 * `variants` creates missing image variants.
 */
export const createPublicOrigin = (
  emulation: Pick<Emulation, 'head' | 'send'>,
  root: string,
  links?: LinkCheck,
  variants?: ImageVariants,
): Server => {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [requested = '/', query = ''] = (request.url ?? '/').split('?', 2);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      sendText(response, 403, 'Only GET and HEAD are allowed.');
      return;
    }
    const isLink = links !== undefined && needsLink.test(requested);
    if (isLink && !isSigned(`${links.origin}${request.url}`, links.keys, Date.now())) {
      sendText(response, 403, 'This file is private. Its link was changed or has expired.');
      return;
    }
    const folder = isLink ? posix.dirname(root) : root;
    const resolved = variants?.resolve(requested, query) ?? { path: requested, status: 200, body: '' };
    if (resolved.status !== 200) {
      sendError(response, resolved.status, resolved.body);
      return;
    }
    const { path } = resolved;
    const url = `${folder}${path}`;
    const head = async () => (filePath.test(path) && path.length < 300 ? emulation.head(url) : undefined);
    let found = await head();
    if (!found && path !== requested) {
      const created = await variants?.create(path, isLink ? 'private' : 'public');
      found = await head();
      if (created && !found) {
        const type = created.contentType;
        const cacheControl = created.status === 200 ? (isLink ? linkCacheControl : fileCacheControl) : 'no-store';
        const more = { ...created.headers, 'cache-control': cacheControl, 'content-type': type };
        response.writeHead(created.status, { ...fileHeaders, ...more, 'content-length': created.body.length });
        response.end(request.method === 'HEAD' ? undefined : created.body);
        return;
      }
    }
    if (!found) {
      sendText(response, 404, notFound);
      return;
    }
    const { etag = '', 'last-modified': lastModified = '', 'content-type': type = '' } = found;
    const size = Number(found['content-length']);
    const disposition = fileDisposition(type, found['content-disposition']);
    const headers = {
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
      response.writeHead(304, headers).end();
      return;
    }
    const range = rangeOf(request, etag, size);
    if (range === 'none') {
      sendText(response, 416, 'The requested range is outside of the file.', { 'content-range': `bytes */${size}` });
      return;
    }
    const { start, end } = range === 'whole' ? { start: 0, end: size - 1 } : range;
    const part = range === 'whole' ? {} : { 'content-range': `bytes ${start}-${end}/${size}` };
    const status = range === 'whole' ? 200 : 206;
    const allHeaders = { ...headers, 'content-length': end - start + 1, ...part };
    if (request.method === 'HEAD') {
      response.writeHead(status, allHeaders).end();
      return;
    }
    const ranged = range === 'whole' ? {} : { range: `bytes=${start}-${end}` };
    const content = await emulation.send({ method: 'GET', url, headers: { ...ranged, 'if-match': etag } });
    if (content.statusCode !== status) {
      content.resume();
      if (await head()) throw new Error('The file exists but could not be read');
      // It was deleted after the first request.
      sendText(response, 404, notFound);
      return;
    }
    response.writeHead(status, allHeaders);
    content.on('error', () => response.destroy()).pipe(response);
  };

  return createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    serve(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else sendText(response, 500, 'The file could not be read.');
    });
  });
};

import { hash } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { uploadCors } from '../../../shared/files/connect-storage.ts';
import { keepAliveMs } from '../ports.ts';
import { type Emulation, listParts, type Stored } from './emulation.ts';
import type { LargeFiles } from './large-files.ts';
import { parseTarget, S3Error, type S3Target, sendS3Error } from './s3-request.ts';
import { type S3Keys, SignatureCheck } from './signature.ts';

const bare = (etag: string): string => etag.trim().replace(/^W\//, '').replaceAll('"', '');

const matches = (condition: string, etag: string | undefined): boolean =>
  etag !== undefined && condition.split(',').some((one) => one.trim() === '*' || bare(one) === bare(etag));

const require = (condition: boolean): void => {
  if (!condition) throw new S3Error('PreconditionFailed');
};

/**
 * Checks the conditions of a write, which fauxqs ignores: `If-Match`, `If-None-Match` and those of a copy's source.
 * Throws `S3Error` if one is false. The caller must prevent other writes until its own is complete.
 */
const checkWrite = async (emulation: Emulation, { headers }: IncomingMessage, path: string): Promise<void> => {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined || ifNoneMatch !== undefined) {
    const etag = (await emulation.head(path))?.etag;
    require(ifMatch === undefined || matches(ifMatch, etag));
    require(ifNoneMatch === undefined || !matches(ifNoneMatch, etag));
  }
  const source = headers['x-amz-copy-source'];
  const { 'x-amz-copy-source-if-match': sourceIs, 'x-amz-copy-source-if-none-match': sourceIsNot } = headers;
  if (typeof source !== 'string' || (sourceIs === undefined && sourceIsNot === undefined)) return;
  const found = await emulation.head(source.startsWith('/') ? source : `/${source}`);
  if (!found) return;
  require(sourceIs === undefined || matches(String(sourceIs), found.etag));
  require(sourceIsNot === undefined || !matches(String(sourceIsNot), found.etag));
};

/** The status of a `HEAD` by its conditions; fauxqs always returns 200. */
const headStatus = ({ headers }: IncomingMessage, etag: string | undefined): 200 | 304 | 412 => {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined && !matches(ifMatch, etag)) return 412;
  return ifNoneMatch !== undefined && matches(ifNoneMatch, etag) ? 304 : 200;
};

interface GuardOptions {
  readonly emulation: Emulation;
  readonly large: LargeFiles;
  readonly keys: S3Keys;
  readonly region: string;
  /** fauxqs's folder. */
  readonly directory: string;
}

/** fauxqs's limit for a body; larger objects are stored by `LargeFiles`. */
const maxBytes = 11 * 1024 * 1024;

/** S3's limit for one PUT. */
const maxObjectBytes = 5 * 1024 ** 3;

const includes = (list: readonly string[], name: string): boolean => list.includes(name);

const corsHeaders = (origin: string | undefined): OutgoingHttpHeaders =>
  origin === undefined
    ? {}
    : {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': uploadCors.methods.join(', '),
        'access-control-expose-headers': uploadCors.exposedHeaders.join(', '),
        vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
      };

const preflight = ({ headers }: IncomingMessage, response: ServerResponse): void => {
  const method = headers['access-control-request-method'] ?? '';
  const requested = (headers['access-control-request-headers'] ?? '').toLowerCase().split(',');
  const names = requested.flatMap((name) => name.trim() || []);
  const allowed = names.every((name) => includes(uploadCors.requestHeaders, name));
  if (headers.origin === undefined || !includes(uploadCors.methods, method) || !allowed) {
    throw new S3Error('AccessForbidden');
  }
  const head: OutgoingHttpHeaders = {
    ...corsHeaders(headers.origin),
    ...(names.length > 0 ? { 'access-control-allow-headers': names.join(', ') } : {}),
    'access-control-max-age': String(uploadCors.maxAgeSeconds),
  };
  response.writeHead(200, head).end();
};

const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (length === undefined) {
    if (encoding !== undefined) throw new S3Error('MissingContentLength');
    return undefined;
  }
  if (Number(length) > maxBytes) throw new S3Error('EntityTooLarge');
  return buffer(request);
};

/** The digests and `sha256` are in hex, `md5` is the base64 of `Content-MD5`. */
const checkDigests = (
  found: { readonly sha256: string; readonly md5: string },
  sha256: string | undefined,
  md5: string | undefined,
): void => {
  if (sha256 !== undefined && found.sha256 !== sha256) throw new S3Error('XAmzContentSHA256Mismatch');
  if (md5 !== undefined && found.md5 !== Buffer.from(md5, 'base64').toString('hex')) throw new S3Error('BadDigest');
};

const digestsOf = (body: Buffer) => ({ sha256: hash('sha256', body), md5: hash('md5', body) });

const md5Of = ({ headers }: IncomingMessage): string | undefined => headers['content-md5']?.toString();

/** True for a complete object that is too large for fauxqs; parts of multipart uploads never are. */
const isLarge = ({ method, headers }: IncomingMessage, { query }: S3Target): boolean =>
  method === 'PUT' && !query.has('uploadId') && Number(headers['content-length']) > maxBytes;

const overridableHeaders = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
] as const;

/** The response headers that a signed request sets by parameters such as `response-content-disposition`. */
const overridesOf = ({ method, url = '/' }: IncomingMessage, status: number): OutgoingHttpHeaders => {
  if ((method !== 'GET' && method !== 'HEAD') || status >= 300) return {};
  const { query } = parseTarget(url);
  return Object.fromEntries(
    overridableHeaders.flatMap((name) => {
      const value = query.get(`response-${name}`);
      return value === null ? [] : [[name, value]];
    }),
  );
};

/**
 * S3's checks in front of the emulation: signatures, digests, conditions of writes and CORS for uploads. Nothing is
 * stored of a request that is rejected or interrupted.
 */
export const createGuard = ({ emulation, large, keys, region, directory }: GuardOptions): Server => {
  const signatures = new SignatureCheck(keys, region);
  let lastWrite: Promise<unknown> = Promise.resolve();

  /** Runs one write at a time, so that nothing changes between the check of its conditions and the write. */
  const withLock = <T>(write: () => Promise<T>): Promise<T> => {
    const done = lastWrite.then(write);
    lastWrite = done.catch(() => undefined);
    return done;
  };

  const putLarge = async (request: IncomingMessage, target: S3Target, sha256: string | undefined): Promise<Stored> => {
    const { method = 'PUT', url = '/', headers } = request;
    if (Number(headers['content-length']) > maxObjectBytes) throw new S3Error('EntityTooLarge');
    const file = await large.write(request);
    try {
      checkDigests(file, sha256, md5Of(request));
      return await withLock(async () => {
        await checkWrite(emulation, request, target.path);
        return emulation.sendLarge({ method, url, headers }, file);
      });
    } catch (error) {
      await large.remove(file);
      throw error;
    }
  };

  const handle = async (request: IncomingMessage): Promise<Stored> => {
    const { method = 'GET', url = '/', headers } = request;
    const target = parseTarget(url);
    const sha256 = await signatures.check(request, target);
    if (isLarge(request, target)) return putLarge(request, target, sha256);
    const body = await readBody(request);
    checkDigests(digestsOf(body ?? Buffer.alloc(0)), sha256, md5Of(request));
    const sent = { method, url, headers, body };
    if (method === 'GET' && target.query.has('uploadId')) return listParts(directory, target);
    if (method === 'GET' || method === 'HEAD') return emulation.send(sent);
    return withLock(async () => {
      await checkWrite(emulation, request, target.path);
      return emulation.send(sent);
    });
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'OPTIONS') {
      preflight(request, response);
      return;
    }
    const stored = await handle(request);
    const { statusCode = 500, headers } = stored;
    const status = request.method === 'HEAD' && statusCode === 200 ? headStatus(request, headers.etag) : statusCode;
    const overrides = overridesOf(request, status);
    response.writeHead(status, { ...headers, ...overrides, ...corsHeaders(request.headers.origin) });
    stored.on('error', () => response.destroy()).pipe(response);
  };

  return createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    serve(request, response).catch((error: unknown) => {
      request.resume();
      const s3Error = error instanceof S3Error ? error : new S3Error('InternalError');
      sendS3Error(response, s3Error, corsHeaders(request.headers.origin));
    });
  });
};

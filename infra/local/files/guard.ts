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
import type { Emulation, Stored } from './emulation.ts';
import type { LargeFiles } from './large-files.ts';
import { listParts } from './list-parts.ts';
import { checkWrite, headStatus } from './preconditions.ts';
import { overridesOf } from './response-overrides.ts';
import { refuse, S3Error } from './s3-error.ts';
import { type S3Target, targetOf } from './s3-target.ts';
import { type S3Keys, SignatureCheck } from './signature.ts';

interface GuardOptions {
  readonly emulation: Emulation;
  readonly large: LargeFiles;
  readonly keys: S3Keys;
  readonly region: string;
  /** Where the emulation keeps its files. */
  readonly directory: string;
}

/** What the emulation takes; larger objects are files of our own. */
const maxBytes = 11 * 1024 * 1024;

/** What S3 takes by one PUT. */
const maxObjectBytes = 5 * 1024 ** 3;

const allows = (list: readonly string[], name: string): boolean => list.includes(name);

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
  const asked = (headers['access-control-request-headers'] ?? '').toLowerCase().split(',');
  const names = asked.flatMap((name) => name.trim() || []);
  const allowed = names.every((name) => allows(uploadCors.requestHeaders, name));
  if (headers.origin === undefined || !allows(uploadCors.methods, method) || !allowed) {
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

/** Both digests in hex, what was signed too; `Content-MD5` is in base64. */
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

/** A whole object that is larger than the emulation takes; its parts are never. */
const isLarge = ({ method, headers }: IncomingMessage, { query }: S3Target): boolean =>
  method === 'PUT' && !query.has('uploadId') && Number(headers['content-length']) > maxBytes;

/**
 * S3 as it is from outside, in front of the emulation: requests are signed with the right keys, in time and to the
 * letter, conditions hold, pages of any origin may upload. Nothing is stored of a request that is refused or cut off.
 */
export const createGuard = ({ emulation, large, keys, region, directory }: GuardOptions): Server => {
  const signatures = new SignatureCheck(keys, region);
  let lastWrite: Promise<unknown> = Promise.resolve();

  /** One write at a time, so that nothing comes between the conditions of a write and the write. */
  const inTurn = <T>(write: () => Promise<T>): Promise<T> => {
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
      return await inTurn(async () => {
        await checkWrite(emulation, request, target.path);
        return emulation.sendLarge({ method, url, headers }, file);
      });
    } catch (error) {
      await large.remove(file);
      throw error;
    }
  };

  const answer = async (request: IncomingMessage): Promise<Stored> => {
    const { method = 'GET', url = '/', headers } = request;
    const target = targetOf(url);
    const sha256 = await signatures.check(request, target);
    if (isLarge(request, target)) return putLarge(request, target, sha256);
    const body = await readBody(request);
    checkDigests(digestsOf(body ?? Buffer.alloc(0)), sha256, md5Of(request));
    const sent = { method, url, headers, body };
    if (method === 'GET' && target.query.has('uploadId')) return listParts(directory, target);
    if (method === 'GET' || method === 'HEAD') return emulation.send(sent);
    return inTurn(async () => {
      await checkWrite(emulation, request, target.path);
      return emulation.send(sent);
    });
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'OPTIONS') {
      preflight(request, response);
      return;
    }
    const found = await answer(request);
    const { statusCode = 500, headers } = found;
    const status = request.method === 'HEAD' && statusCode === 200 ? headStatus(request, headers.etag) : statusCode;
    const asked = overridesOf(request, status);
    response.writeHead(status, { ...headers, ...asked, ...corsHeaders(request.headers.origin) });
    found.on('error', () => response.destroy()).pipe(response);
  };

  return createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      request.resume();
      const refusal = error instanceof S3Error ? error : new S3Error('InternalError');
      refuse(response, refusal, corsHeaders(request.headers.origin));
    });
  });
};

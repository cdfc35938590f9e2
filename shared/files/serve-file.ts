import { createPublicKey, type KeyObject } from 'node:crypto';
import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { ShortCache } from '../core/cache.ts';
import { clock, nowSeconds } from '../core/clock.ts';
import { linkSettings } from '../core/config.ts';
import { failureResponse } from '../core/error-body.ts';
import { ifThere, onFiles } from '../persistence/s3.ts';
import { fileCacheControl, fileDisposition, fileHeaders, linkCacheControl } from './file-headers.ts';
import { makeVariant, variantNotFound } from './images/make.ts';
import { parametersIn } from './images/variant.ts';
import { routeFileRequest } from './images/variant-url.ts';
import { linkKeyOf } from './link-keys.ts';
import { isSigned } from './signed-links.ts';

/** Function URL payload 2.0. */
interface FileRequest {
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly requestContext: {
    readonly requestId: string;
    readonly domainName: string;
    readonly http: { readonly method: string };
  };
}

const opensSeconds = 300;

/** Browsers cache a redirect for less, so that it never leads to an expired URL. */
const spareSeconds = 60;

const respond = (statusCode: number, contentType: string, body: string) => ({
  statusCode,
  headers: { ...fileHeaders, 'content-type': contentType, 'cache-control': 'no-store' },
  body,
});

const forbidden = (message: string) => respond(403, 'text/plain; charset=utf-8', `${message}\n`);

const keys = new ShortCache<ReadonlyMap<string, KeyObject>>(5 * 60_000, 1);

/** Key id → public key. */
const linkKeys = (): Promise<ReadonlyMap<string, KeyObject>> =>
  keys.get('links', async () => {
    const { LINK_KEY_ID: id } = linkSettings();
    return new Map(id === undefined ? [] : [[id, createPublicKey(await linkKeyOf(id))]]);
  });

interface Reading {
  readonly method: string;
  readonly seconds: number;
  readonly cacheControl: string;
}

/** Presigned URL in the bucket; `undefined` if there is no such object. */
const bucketAddress = (Key: string, { method, seconds, cacheControl }: Reading): Promise<string | undefined> =>
  onFiles(async (client, Bucket) => {
    const found = await ifThere(client.send(new HeadObjectCommand({ Bucket, Key })));
    if (!found) return undefined;
    const object = {
      Bucket,
      Key,
      ResponseCacheControl: cacheControl,
      ResponseContentDisposition: fileDisposition(found.ContentType ?? '', found.ContentDisposition) ?? 'inline',
    };
    const command = method === 'HEAD' ? new HeadObjectCommand(object) : new GetObjectCommand(object);
    return getSignedUrl(client, command, { expiresIn: seconds });
  });

const redirect = (location: string, isLink: boolean, seconds: number) => {
  const maxAge = Math.max(0, seconds - spareSeconds);
  const cacheControl = `${isLink ? 'private' : 'public'}, max-age=${maxAge}`;
  return { statusCode: 302, headers: { ...fileHeaders, location, 'cache-control': cacheControl }, body: '' };
};

const serveNewVariant = async (path: string, isLink: boolean, cacheControl: string) => {
  const { bytes, contentType } = await makeVariant(path, isLink ? 'private' : 'public');
  return {
    statusCode: 200,
    headers: { ...fileHeaders, 'content-type': contentType, 'cache-control': cacheControl },
    body: Buffer.from(bytes).toString('base64'),
    isBase64Encoded: true,
  };
};

const expiryIn = (query: string): number => Number(/(?:^|&)Expires=(\d+)(?:&|$)/.exec(query)?.[1] ?? 0);

const serve = async ({ rawPath: path, rawQueryString, requestContext }: FileRequest) => {
  const { requestId, domainName, http } = requestContext;
  if (http.method !== 'GET' && http.method !== 'HEAD') return forbidden('Only GET and HEAD are allowed.');
  // Lambda percent-encodes ~ in raw queries, and signatures contain it.
  const query = rawQueryString.replaceAll(/%7e/gi, '~');
  const isLink = path.startsWith('/private/');
  if (isLink && !isSigned(`https://${domainName}${path}?${query}`, await linkKeys(), clock.now())) {
    return forbidden('This file is private. The link was changed, or has expired.');
  }
  const led = routeFileRequest(path, parametersIn(query), requestId);
  if (led.status !== 200) return respond(led.status, 'application/json', led.body);
  // The bucket URL must not outlast the link.
  const seconds = isLink ? Math.max(1, Math.min(opensSeconds, expiryIn(query) - nowSeconds())) : opensSeconds;
  const cacheControl = isLink ? linkCacheControl : fileCacheControl;
  const key = isLink ? led.path.substring(1) : `files${led.path}`;
  const address = await bucketAddress(key, { method: http.method, seconds, cacheControl });
  if (address !== undefined) return redirect(address, isLink, seconds);
  if (led.path !== path) return serveNewVariant(led.path, isLink, cacheControl);
  throw variantNotFound();
};

/** For deployments without CloudFront: redirects to the bucket. Returns 404 `FILE_NOT_FOUND`. */
export const respondWithFile = async (request: FileRequest) => {
  try {
    return await serve(request);
  } catch (error) {
    const { headers, ...failure } = failureResponse(error, request.requestContext.requestId);
    return { ...failure, headers: { ...fileHeaders, ...headers } };
  }
};

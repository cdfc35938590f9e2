import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { SignatureV4 } from '@smithy/signature-v4';
import { clock } from '../../../shared/core/clock.ts';
import { S3Error, type S3Target } from './s3-request.ts';

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

type Init = ConstructorParameters<typeof SignatureV4>[0];
type Secret = string | ArrayBuffer | ArrayBufferView;

const bytesOf = (data: Secret): string | Uint8Array =>
  typeof data === 'string'
    ? data
    : ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);

/** SHA-256 with the interface that the SDK's signer needs. */
export class Sha256 {
  readonly #hash;

  constructor(secret?: Secret) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: Secret): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
}

/** A request's signature, from its headers or its query. */
interface Claim {
  readonly credential: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** `20260101T000000Z` */
  readonly date: string;
  readonly payloadHash: string;
  /** Lifetime of a presigned URL in seconds. */
  readonly expires: number | undefined;
}

const unsigned = 'UNSIGNED-PAYLOAD';
const algorithm = 'AWS4-HMAC-SHA256';
const authorization = /^AWS4-HMAC-SHA256 Credential=([^, ]+), ?SignedHeaders=([^, ]+), ?Signature=([0-9a-f]{64})$/;
const maxExpiresSeconds = 7 * 24 * 3600;
const skewMs = 15 * 60 * 1000;

const fromHeaders = ({ headers }: IncomingMessage): Claim => {
  const match = authorization.exec(headers.authorization ?? '');
  const [, credential = '', signedHeaders = '', signature = ''] = match ?? [];
  if (!match) throw new S3Error(headers.authorization ? 'AuthorizationHeaderMalformed' : 'AccessDenied');
  const { 'x-amz-date': date, 'x-amz-content-sha256': payloadHash } = headers;
  if (typeof payloadHash !== 'string') {
    throw new S3Error('AccessDenied', 'Missing required header for this request: x-amz-content-sha256');
  }
  const list = signedHeaders.split(';');
  return { credential, signedHeaders: list, signature, date: String(date), payloadHash, expires: undefined };
};

const fromQuery = (query: URLSearchParams): Claim => {
  const value = (name: string): string => {
    const [only, second] = query.getAll(`X-Amz-${name}`);
    if (only === undefined || second !== undefined) throw new S3Error('AuthorizationQueryParametersError');
    return only;
  };
  const expires = value('Expires');
  if (value('Algorithm') !== algorithm || !/^\d{1,6}$/.test(expires) || Number(expires) > maxExpiresSeconds) {
    throw new S3Error('AuthorizationQueryParametersError');
  }
  return {
    credential: value('Credential'),
    signedHeaders: value('SignedHeaders').split(';'),
    signature: value('Signature'),
    date: value('Date'),
    payloadHash: query.get('X-Amz-Content-Sha256') ?? unsigned,
    expires: Number(expires),
  };
};

/** Parses a signature's time, such as `20260101T000000Z`, into ms since 1970; `NaN` if it is malformed. */
export const timeOf = (date: string): number =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

const checkTime = ({ date, expires }: Claim): void => {
  const signedAt = timeOf(date);
  if (Number.isNaN(signedAt)) throw new S3Error('AccessDenied', 'The date of the signature is not valid');
  const age = clock.now() - signedAt;
  if (expires === undefined) {
    if (Math.abs(age) > skewMs) throw new S3Error('RequestTimeTooSkewed');
  } else {
    if (age > expires * 1000) throw new S3Error('AccessDenied', 'Request has expired');
    if (age < -skewMs) throw new S3Error('AccessDenied', 'Request is not valid yet');
  }
};

/** All headers with a meaning for S3 must be signed; otherwise, a presigned upload could be turned into a copy. */
const checkSignedHeaders = ({ signedHeaders }: Claim, { headers }: IncomingMessage): void => {
  const mustBe = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  if (!mustBe.every((name) => signedHeaders.includes(name))) {
    throw new S3Error('AccessDenied', 'There were headers present in the request which were not signed');
  }
};

/** Verifies SigV4 signatures in the `Authorization` header or in a presigned URL. */
export class SignatureCheck extends SignatureV4 {
  readonly #keys: S3Keys;
  readonly #region: string;

  constructor(keys: S3Keys, region: string) {
    const init: Init = { credentials: keys, region, service: 's3', sha256: Sha256, uriEscapePath: false };
    super(init);
    this.#keys = keys;
    this.#region = region;
  }

  /** Returns the SHA-256 that the body must have, if one was signed. Throws `S3Error` if the signature is wrong. */
  async check(request: IncomingMessage, target: S3Target): Promise<string | undefined> {
    const presigned = target.query.has('X-Amz-Signature');
    const claim = presigned ? fromQuery(target.query) : fromHeaders(request);
    const [accessKeyId, ...scope] = claim.credential.split('/');
    if (accessKeyId !== this.#keys.accessKeyId) throw new S3Error('InvalidAccessKeyId');
    if (scope.join('/') !== `${claim.date.slice(0, 8)}/${this.#region}/s3/aws4_request`) {
      const code = presigned ? 'AuthorizationQueryParametersError' : 'AuthorizationHeaderMalformed';
      throw new S3Error(code, `The credential is not for this day and the region '${this.#region}'`);
    }
    checkTime(claim);
    checkSignedHeaders(claim, request);
    const expected = Buffer.from(await this.#signatureOf(request, target, claim, scope.join('/')));
    const given = Buffer.from(claim.signature);
    if (expected.length !== given.length || !timingSafeEqual(expected, given)) {
      throw new S3Error('SignatureDoesNotMatch');
    }
    if (claim.payloadHash === 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD') throw new S3Error('NotImplemented');
    return /^[0-9a-f]{64}$/.test(claim.payloadHash) ? claim.payloadHash : undefined;
  }

  async #signatureOf(request: IncomingMessage, target: S3Target, claim: Claim, scope: string): Promise<string> {
    const headers = Object.fromEntries(
      claim.signedHeaders.map((name) => [
        name,
        String(request.headers[name] ?? '')
          .trim()
          .replace(/\s+/g, ' '),
      ]),
    );
    const names = [...new Set(target.query.keys())];
    const query = Object.fromEntries(names.map((name) => [name, target.query.getAll(name)]));
    const { method = 'GET' } = request;
    const signed = { method, protocol: 'http:', hostname: '127.0.0.1', path: target.path, headers, query };
    const canonical = this.createCanonicalRequest(signed, headers, claim.payloadHash);
    const text = await this.createStringToSign(claim.date, scope, canonical, algorithm);
    return this.sign(text, { signingDate: new Date(timeOf(claim.date)) });
  }
}

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { site } from '../fixtures/users.ts';

/** The creation options, as far as a device reads them. */
export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

export interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

/** Encodes CBOR: integers, texts, bytes and maps. */
export const cbor = (value: unknown): Buffer => {
  const head = (major: number, n: number): Buffer => {
    if (n < 24) return Buffer.from([(major << 5) | n]);
    if (n < 256) return Buffer.from([(major << 5) | 24, n]);
    return Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
  };
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map) {
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, of]) => [cbor(key), cbor(of)])]);
  }
  throw new Error(`No CBOR of ${typeof value}`);
};

/** Flags of authenticator data. */
export const flag = { present: 1, verified: 4, mayBackUp: 8, backedUp: 16, attested: 64 } as const;

/** A credential of a user at a site. */
export interface Credential {
  readonly id: string;
  readonly userHandle: string;
  readonly privateKey: KeyObject;
  readonly cose: Buffer;
  counter: number;
}

/** Deviations from correct behaviour. */
export interface Oddity {
  readonly origin?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly rpId?: string;
  readonly flags?: number;
  readonly counter?: number;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
  readonly id?: Buffer;
  readonly cose?: Buffer;
  readonly format?: string;
  readonly statement?: ReadonlyMap<string, unknown>;
  readonly userHandle?: string | undefined;
  readonly signWith?: KeyObject;
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** Key types by their COSE number. */
export const newKey = (alg: number): { readonly privateKey: KeyObject; readonly cose: Buffer } => {
  const part = (text = ''): Buffer => Buffer.from(text, 'base64url');
  if (alg === -8) {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { x } = publicKey.export({ format: 'jwk' });
    const parts = [
      [1, 1],
      [3, alg],
      [-1, 6],
      [-2, part(x)],
    ] as const;
    return { privateKey, cose: cbor(new Map<number, unknown>(parts)) };
  }
  if (alg === -257) {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { n, e } = publicKey.export({ format: 'jwk' });
    const parts = [
      [1, 3],
      [3, alg],
      [-1, part(n)],
      [-2, part(e)],
    ] as const;
    return { privateKey, cose: cbor(new Map<number, unknown>(parts)) };
  }
  const [namedCurve, curve] = alg === -35 ? (['P-384', 2] as const) : (['P-256', 1] as const);
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const parts = [
    [1, 2],
    [3, alg],
    [-1, curve],
    [-2, part(x)],
    [-3, part(y)],
  ] as const;
  return { privateKey, cose: cbor(new Map<number, unknown>(parts)) };
};

const usual = flag.present | flag.verified;

const authenticatorData = (rpId: string, flags: number, counter: number, attested = Buffer.alloc(0)): Buffer => {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested]);
};

const clientData = (type: string, challenge: string, odd: Oddity): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: odd.type ?? type,
      challenge: odd.challenge ?? challenge,
      origin: odd.origin ?? site,
      crossOrigin: odd.crossOrigin ?? false,
      ...(odd.topOrigin !== undefined && { topOrigin: odd.topOrigin }),
    }),
  );

/** Creates a credential like browser and device; `alg` is its COSE number. */
export const makePasskey = ({ challenge, rp, user }: CreationOptions, odd: Oddity = {}, alg = -7) => {
  const id = odd.id ?? randomBytes(32);
  const { privateKey, cose } = newKey(alg);
  const length = Buffer.from([id.length >> 8, id.length & 255]);
  const attested = Buffer.concat([Buffer.alloc(16), length, id, odd.cose ?? cose]);
  const flags = (odd.flags ?? usual) | flag.attested;
  const authData = authenticatorData(odd.rpId ?? rp.id, flags, odd.counter ?? 0, attested);
  const data = clientData('webauthn.create', challenge, odd);
  const signed = Buffer.concat([authData, sha256(data)]);
  const ownStatement = [
    ['alg', alg],
    ['sig', sign(alg === -8 ? null : 'sha256', signed, privateKey)],
  ] as const;
  const statement = odd.statement ?? new Map<string, unknown>(odd.format === 'packed' ? ownStatement : []);
  const attestation = new Map<string, unknown>([
    ['fmt', odd.format ?? 'none'],
    ['attStmt', statement],
    ['authData', authData],
  ]);
  const credential: Credential = {
    id: base64url(id),
    userHandle: user.id,
    privateKey,
    cose,
    counter: odd.counter ?? 0,
  };
  const response = {
    id: credential.id,
    rawId: credential.id,
    type: 'public-key',
    authenticatorAttachment: 'platform',
    clientExtensionResults: {},
    response: {
      clientDataJSON: base64url(data),
      attestationObject: base64url(cbor(attestation)),
      transports: ['internal'],
    },
  };
  return { credential, response };
};

/** Signs in with a credential like browser and device. */
export const usePasskey = (credential: Credential, { challenge, rpId }: RequestOptions, odd: Oddity = {}) => {
  const data = clientData('webauthn.get', challenge, odd);
  const authData = authenticatorData(odd.rpId ?? rpId, odd.flags ?? usual, odd.counter ?? credential.counter);
  const key = odd.signWith ?? credential.privateKey;
  const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const signature = sign(hash, Buffer.concat([authData, sha256(data)]), key);
  return {
    id: credential.id,
    rawId: credential.id,
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: base64url(data),
      authenticatorData: base64url(authData),
      signature: base64url(signature),
      ...('userHandle' in odd
        ? odd.userHandle !== undefined && { userHandle: odd.userHandle }
        : { userHandle: credential.userHandle }),
    },
  };
};

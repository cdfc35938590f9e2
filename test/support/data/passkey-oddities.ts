import { randomBytes } from 'node:crypto';
import { flag } from '../clients/passkey-device.ts';

/**
 * Errors in new credentials and in sign-ins, in the order of WebAuthn's steps; `origin` is the page's. No neighbouring
 * origin is allowed, except those that a test names.
 */
export const odditiesAt = (origin: string) => {
  const { protocol, host, hostname } = new URL(origin);
  const otherProtocol = protocol === 'https:' ? 'http:' : 'https:';
  return [
    ['another type', { type: 'webauthn.other' }],
    ['another challenge', { challenge: randomBytes(32).toString('base64url') }],
    ['no challenge', { challenge: '' }],
    ['another site', { origin: 'https://evil.example' }],
    ['a site above', { origin: `${protocol}//${hostname.split('.').slice(1).join('.') || 'example'}` }],
    ['a site that only ends like ours', { origin: `${protocol}//evil${host}` }],
    ['another site below ours that nobody named', { origin: `${protocol}//evil.${host}` }],
    ['an allowed domain beside our host', { origin: 'https://other.example.com' }],
    ['a port that nobody named', { origin: `${protocol}//${hostname}:444` }],
    ['another protocol', { origin: `${otherProtocol}//${host}` }],
    ['plain http', { origin: 'http://below.app.example.com' }],
    ['an IP address', { origin: origin.replace(hostname, '127.0.0.1') }],
    ['an origin with a path', { origin: `${origin}/` }],
    ['no origin', { origin: '' }],
    ['an opaque origin', { origin: 'null' }],
    ['a page within that of another site', { crossOrigin: true }],
    ['a page within a named one', { crossOrigin: true, topOrigin: origin }],
    ['a top origin where there is none', { topOrigin: 'https://evil.example' }],
    ['another relying party', { rpId: 'example.com' }],
    ['nobody present', { flags: flag.verified }],
    ['nobody verified', { flags: flag.present }],
    ['a backup of what has none', { flags: flag.present | flag.verified | flag.backedUp }],
  ] as const;
};

/** Bodies that are no credentials. */
export const malformed = (good: object) =>
  [
    ['nothing', {}],
    ['no response', { ...good, response: undefined }],
    ['a response that is a text', { ...good, response: 'text' }],
    ['another type', { ...good, type: 'password' }],
    ['another id than its own', { ...good, rawId: 'AAAA' }],
    ['an id that is no text', { ...good, id: 5, rawId: 5 }],
    ['client data that is no base64url', { ...good, response: { ...Object(good).response, clientDataJSON: '{}' } }],
    ['client data that is no JSON', { ...good, response: { ...Object(good).response, clientDataJSON: 'AAAA' } }],
    ['client data that is null', { ...good, response: { ...Object(good).response, clientDataJSON: 'bnVsbA' } }],
  ] as const;

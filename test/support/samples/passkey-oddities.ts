import { randomBytes } from 'node:crypto';
import { flag } from '../clients/passkey-device.ts';

/** What is wrong with a new credential or with a sign-in alike, in the order of WebAuthn's steps. */
export const oddities = [
  ['another type', { type: 'webauthn.other' }],
  ['another challenge', { challenge: randomBytes(32).toString('base64url') }],
  ['no challenge', { challenge: '' }],
  ['another site', { origin: 'https://evil.example' }],
  ['a site above', { origin: 'https://example.com' }],
  ['a site that only ends like ours', { origin: 'https://evilapp.example.com' }],
  ['another site below ours that nobody named', { origin: 'https://evil.app.example.com' }],
  ['an allowed domain beside our host', { origin: 'https://other.example.com' }],
  ['a port that nobody named', { origin: 'https://app.example.com:444' }],
  ['plain http', { origin: 'http://below.app.example.com' }],
  ['an origin with a path', { origin: 'https://app.example.com/' }],
  ['no origin', { origin: '' }],
  ['an opaque origin', { origin: 'null' }],
  ['a page within that of another site', { crossOrigin: true }],
  ['a page within a named one', { crossOrigin: true, topOrigin: 'https://app.example.com' }],
  ['a top origin where there is none', { topOrigin: 'https://evil.example' }],
  ['another relying party', { rpId: 'example.com' }],
  ['nobody present', { flags: flag.verified }],
  ['nobody verified', { flags: flag.present }],
  ['a backup of what has none', { flags: flag.present | flag.verified | flag.backedUp }],
] as const;

/** Bodies that are no credentials at all. */
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

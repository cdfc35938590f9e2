import { describe, expect, test } from 'vitest';
import { allowsOrigin } from '../../../shared/projects/allowed-origin.ts';

describe('the domain whitelist', () => {
  test.each<[string[], string | undefined, boolean]>([
    [['*'], undefined, true],
    [['*'], 'https://anywhere.example', true],
    [['https://app.example.com'], 'https://app.example.com', true],
    [['https://app.example.com'], 'http://app.example.com', false],
    [['https://app.example.com'], 'https://app.example.com:8443', false],
    [['https://app.example.com'], 'https://app.example.com.evil.test', false],
    [['app.example.com'], 'http://app.example.com', true],
    [['App.Example.com'], 'https://app.example.com', true],
    [['app.example.com'], 'https://x.app.example.com', false],
    [['localhost:3000'], 'http://localhost:3000', true],
    [['localhost:3000'], 'http://localhost:4000', false],
    [['*.example.com'], 'https://a.b.example.com', true],
    [['*.example.com'], 'https://example.com', false],
    [['*.example.com'], 'https://evilexample.com', false],
    [['example.com'], undefined, false],
    [['example.com'], 'null', false],
    [['example.com'], 'not an origin', false],
    [[], 'https://example.com', false],
  ])('%j and the origin %s → %s', (allowed, origin, expected) => {
    expect(allowsOrigin(allowed, origin)).toBe(expected);
  });
});

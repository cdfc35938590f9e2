import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { dispositionFunction, fileDisposition } from '../../shared/files/file-headers.ts';

type Headers = Record<string, { readonly value: string; readonly multiValue?: unknown }>;

const run = runInNewContext(`${dispositionFunction}; handler`) as (event: object) => { readonly headers: Headers };

/** The headers of a response after the distribution's function. */
const atTheEdge = (headers: Headers, statusCode = 200): Headers =>
  run({ response: { statusCode, headers: { ...headers } } }).headers;

const shown = [
  'image/png',
  'IMAGE/PNG',
  'image/jpeg',
  'image/webp',
  'image/vnd.microsoft.icon',
  'audio/mpeg',
  'video/mp4',
  'video/x-matroska',
  'video/webm;codecs=vp8,opus',
  'video/mp4; codecs="avc1.42E01E, mp4a.40.2"',
  'font/woff2',
  'text/plain',
  'text/plain; charset=utf-8',
  'text/plain;charset="utf-8"',
  'text/csv',
  'application/json',
];

const downloaded = [
  '',
  'text/html',
  'Text/HTML',
  'text/html; charset=utf-8',
  'application/xhtml+xml',
  'image/svg+xml',
  'image/SVG+xml;charset=utf-8',
  'text/xml',
  'application/xml',
  'application/rss+xml',
  'text/xsl',
  'application/mathml+xml',
  'multipart/x-mixed-replace; boundary=x',
  'multipart/related',
  'message/rfc822',
  'text/javascript',
  'application/javascript',
  'application/pdf',
  'application/x-shockwave-flash',
  'application/octet-stream',
  'text/cache-manifest',
  'text/vtt,text/html',
  'image/png,text/html',
  'video/webm;codecs=vp8,text/html',
  'video/webm;codecs="vp8",text/html',
  'video/webm,codecs',
  'image/png;,text/html',
  'image/png; x="," , text/html',
  ' image/png',
  'image/png\t',
  'image/png text/html',
  'image/pngx',
  'ximage/png',
  'image/',
  'image',
  'text/plain\ntext/html',
  '*/*',
  'audio/mpeg+xml',
];

describe('type that browsers may show', () => {
  test.each(shown)('%j is treated the same locally and at the edge', (type) => {
    expect(fileDisposition(type)).toBeUndefined();
    expect(atTheEdge({ 'content-type': { value: type } })).toEqual({ 'content-type': { value: type } });
  });
});

describe('type that is a download', () => {
  test.each(downloaded)('%j is treated the same locally and at the edge', (type) => {
    expect(fileDisposition(type)).toBe('attachment');
    expect(atTheEdge({ 'content-type': { value: type } })['content-disposition']).toEqual({ value: 'attachment' });
  });
});

describe('download rule at the edge', () => {
  const stored = { 'content-disposition': { value: 'inline; filename=page.html' } };

  test('ignores the disposition that an uploader stored', () => {
    expect(atTheEdge({ ...stored, 'content-type': { value: 'text/html' } })).toMatchObject({
      'content-disposition': { value: 'attachment' },
    });
    expect(atTheEdge({ ...stored, 'content-type': { value: 'image/png' } })).not.toHaveProperty('content-disposition');
  });

  const names = ['filename="notes.txt"', 'filename=' + '"_.txt"; ' + "filename*=UTF-8''%F0%9F%AA%A8.txt"];

  test.each(names)('returns the name that the service stored: %s', (name) => {
    const value = `inline; ${name}`;
    for (const [type, kind] of [
      ['image/png', 'inline'],
      ['text/html', 'attachment'],
    ] as const) {
      const headers = { 'content-type': { value: type }, 'content-disposition': { value } };
      expect(atTheEdge(headers)['content-disposition']).toEqual({ value: `${kind}; ${name}` });
      expect(fileDisposition(type, value)).toBe(`${kind}; ${name}`);
    }
  });

  test.each([
    'attachment; filename="a"',
    'inline; filename=a',
    'inline; filename="a/b"',
    'inline; filename="a"; x=1',
    'inline; filename="a"\r\nset-cookie: x',
    "inline; filename*=UTF-8''a",
    'inline; filename="a"; filename*=UTF-8\'\'a;b',
  ])('nothing of what is written otherwise goes out: %j', (value) => {
    const headers = { 'content-type': { value: 'text/html' }, 'content-disposition': { value } };
    expect(atTheEdge(headers)['content-disposition']).toEqual({ value: 'attachment' });
    expect(fileDisposition('text/html', value)).toBe('attachment');
    expect(fileDisposition('image/png', value)).toBeUndefined();
  });

  test('returns a download when there is no type or several', () => {
    const several = {
      'content-type': { value: 'image/png', multiValue: [{ value: 'image/png' }, { value: 'text/html' }] },
    };
    expect(atTheEdge({})['content-disposition']).toEqual({ value: 'attachment' });
    expect(atTheEdge(several)['content-disposition']).toEqual({ value: 'attachment' });
  });

  test('adds no header when the status is 304', () => {
    expect(atTheEdge({ ...stored }, 304)).toEqual({});
  });

  test('fits the size and language limits of CloudFront', () => {
    expect(dispositionFunction.length).toBeLessThan(10_000);
    expect(dispositionFunction).not.toMatch(/=>|\b(?:let|const|class|import|export|require|await)\b|`/);
  });
});

import { describe, expect, test } from 'vitest';
import { requireDeclaredType, signatureBytes } from '../../../shared/files/confirm-upload.ts';

const bytesOf = (hex: string, more = 40): Buffer => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(more)]);
const boxOf = (brand: string): Buffer =>
  Buffer.concat([bytesOf('00000018', 0), Buffer.from(`ftyp${brand}`), bytesOf('')]);

const webm = bytesOf('1a45dfa39f4286810142f7810142f2810442f381084282847765626d42878104');
const opus = Buffer.concat([Buffer.from('OggS'), bytesOf('0002', 22), Buffer.from('OpusHead'), bytesOf('')]);
const avi = Buffer.concat([Buffer.from('RIFF\0\0\0\0AVI LIST'), bytesOf('')]);
const compound = bytesOf('d0cf11e0a1b11ae1', 600);
const zip = bytesOf('504b0304140000000000000000000000000000000000000000000100000061');
const png = bytesOf('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000a49444154');

describe('an accepted content type', () => {
  test.each([
    [
      'SVG with an XML declaration',
      'image/svg+xml',
      '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>',
    ],
    ['XML by its other name', 'text/xml', '<?xml version="1.0"?><a/>'],
    ['a format in XML', 'application/gpx+xml', '<?xml version="1.0"?><gpx/>'],
    ['a table that begins as BMP does', 'text/csv', 'BMI,weight\n22,70\n'],
    ['text that begins as a program does', 'text/plain', 'MZ – Mozambique\n'],
    ['a card of an address as text', 'text/plain', 'BEGIN:VCARD\nVERSION:4.0\n'],
    [
      'text that is cut within a letter',
      'text/plain',
      Buffer.from(`BM${'é'.repeat(signatureBytes)}`).subarray(0, 4099),
    ],
    ['sound that a browser records', 'audio/webm;codecs=opus', webm],
    ['sound that another browser records', 'audio/mp4', boxOf('isom')],
    ['sound that a third one records', 'audio/ogg; codecs=opus', opus],
    ['a film by its usual name', 'video/x-msvideo', avi],
    ['a picture of a telephone', 'image/heic', boxOf('mif1')],
    ['an icon by its registered name', 'image/vnd.microsoft.icon', bytesOf('000001000100101000000100')],
    ['a document of an older kind', 'application/msword', compound],
    ['a table of an older kind', 'application/vnd.ms-excel', compound],
    ['anything as bytes', 'application/octet-stream', png],
    ['text, which has no signature', 'text/plain', 'hello'],
    ['a document that begins as a zip does', 'application/vnd.oasis.opendocument.text', zip],
  ])('%s', async (_what, contentType, content) => {
    await expect(requireDeclaredType(contentType, Buffer.from(content))).resolves.toBeUndefined();
  });
});

describe('400 CONTENT_TYPE_MISMATCH', () => {
  test.each([
    ['a picture as text', 'text/csv', png],
    ['a picture as SVG', 'image/svg+xml', png],
    ['a picture as a document', 'application/vnd.ms-excel', png],
    ['a program as text', 'text/plain', bytesOf('4d5a9000')],
    [
      'a document as text, with bytes that no text has',
      'text/plain',
      Buffer.from('%PDF-1.7\n\xe2\xe3\xcf\xd3', 'latin1'),
    ],
    ['XML as a picture', 'image/png', '<?xml version="1.0"?><svg/>'],
    ['a film as a picture', 'image/heic', boxOf('isom')],
    ['a picture as sound', 'audio/mp4', boxOf('heic')],
    ['a film in another container', 'video/mp4', webm],
    ['a document of an older kind as a picture', 'image/png', compound],
    ['text as sound', 'audio/ogg', 'OggS, said the frog'],
  ])('%s', async (_what, contentType, content) => {
    await expect(requireDeclaredType(contentType, Buffer.from(content))).rejects.toMatchObject({
      code: 'CONTENT_TYPE_MISMATCH',
      message: expect.stringContaining(contentType),
    });
  });
});

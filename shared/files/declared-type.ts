import { fileTypeFromBuffer } from 'file-type';
import { AppError } from '../core/errors.ts';
import { bareType } from '../projects/user-uploads.ts';

/** As many bytes as tell what a file is. */
export const tellingBytes = 4100;

/**
 * Names of one format, and of formats of which the beginning does not tell one from the other, such as sound from films
 * in the same container; each line is taken for its first name.
 */
const alike = [
  ['image/jpeg', 'image/jpg', 'image/pjpeg'],
  ['image/png', 'image/apng', 'image/x-png'],
  ['image/bmp', 'image/x-bmp', 'image/x-ms-bmp'],
  ['image/x-icon', 'image/vnd.microsoft.icon'],
  ['image/heif', 'image/heic', 'image/heif-sequence', 'image/heic-sequence'],
  ['audio/mpeg', 'audio/mp3', 'audio/x-mp3'],
  ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  ['audio/flac', 'audio/x-flac'],
  ['audio/aiff', 'audio/x-aiff'],
  ['audio/aac', 'audio/x-aac', 'audio/aacp'],
  ['audio/midi', 'audio/x-midi', 'audio/mid'],
  ['video/mp4', 'video/x-m4v', 'audio/mp4', 'audio/x-m4a', 'audio/m4a'],
  ['video/3gpp', 'audio/3gpp', 'video/3gpp2', 'audio/3gpp2'],
  ['video/webm', 'audio/webm'],
  ['video/matroska', 'video/x-matroska', 'audio/matroska', 'audio/x-matroska'],
  ['audio/ogg', 'video/ogg', 'application/ogg', 'audio/opus'],
  ['video/vnd.avi', 'video/x-msvideo', 'video/msvideo', 'video/avi'],
  ['video/x-ms-asf', 'audio/x-ms-asf', 'application/vnd.ms-asf', 'video/x-ms-wmv', 'audio/x-ms-wma'],
  ['video/mpeg', 'video/mp1s', 'video/mp2p'],
  ['font/woff', 'application/font-woff', 'application/x-font-woff'],
  ['font/ttf', 'font/sfnt', 'application/x-font-ttf'],
  ['font/otf', 'application/x-font-otf'],
  ['application/zip', 'application/x-zip-compressed'],
  ['application/gzip', 'application/x-gzip'],
  ['application/x-rar-compressed', 'application/vnd.rar', 'application/x-rar'],
] as const;

const firstNames: ReadonlyMap<string, string> = new Map(
  alike.flatMap((names) => names.map((name) => [name, names[0]])),
);

const formatOf = (type: string): string => firstNames.get(type) ?? type;

/** Types whose files begin with something that tells them; SVG is text. */
const tellsItself = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:pdf|zip|gzip)$)/;

/** Documents in a zip or, as older ones, in a compound file, which their beginning does not always tell. */
const inContainer = /^application\/(?:vnd\.|epub\+zip|java-archive|msword)/;

const isTextual = /^text\/|[/+](?:json|xml)$/;

/** Whether bytes are those of text (UTF-8), which may begin with what tells other formats: `BMI,weight`, `<?xml`. */
const readsAsText = (start: Uint8Array): boolean => {
  try {
    return !/[^\P{Cc}\t-\r]/u.test(new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true }));
  } catch {
    return false;
  }
};

const fits = (declared: string, found: string | undefined, start: Uint8Array): boolean => {
  if (found === undefined) return !tellsItself.test(declared);
  if (declared === 'application/octet-stream' || formatOf(declared) === formatOf(found)) return true;
  if (isTextual.test(declared)) return readsAsText(start);
  return (found === 'application/zip' || found === 'application/x-cfb') && inContainer.test(declared);
};

/** Refuses a file whose beginning is not that of its declared type: 400 `CONTENT_TYPE_MISMATCH`. */
export const requireDeclaredType = async (contentType: string, start: Uint8Array): Promise<void> => {
  const { mime } = (await fileTypeFromBuffer(start)) ?? {};
  const found = mime && bareType(mime);
  if (fits(bareType(contentType), found, start)) return;
  throw new AppError(
    'CONTENT_TYPE_MISMATCH',
    `The file was announced as ${contentType}, but its content is ${found ?? 'not'}. Upload it again with the type that it has.`,
    { errors: [{ field: 'filePath', message: 'filePath leads to content of another type than was announced' }] },
  );
};

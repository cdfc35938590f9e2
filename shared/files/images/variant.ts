import { AppError } from '../../core/errors.ts';
import { parseVariantQuery, type QueryParameter } from './variant-url.ts';

/** Authorized readers, `public` or `private`: a private variant is only made for a signed link. */
export const visibilityHeader = 'x-visibility';

/** Sides in pixels, never more than the image has. */
export interface ImageSize {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly fit: 'cover' | 'contain';
  /** Default: the format of the file. */
  readonly format?: 'webp' | 'avif' | 'jpeg' | 'png' | undefined;
}

export type ImageSizeQuery = { readonly [K in keyof ImageSize]?: ImageSize[K] | string | number | undefined };

const shape = /^(?:w(?<width>\d+))?_?(?:h(?<height>\d+))?_?(?<fit>contain)?_?(?<format>webp|avif|jpeg|png)?$/;

const parametersOf = ({ width, height, fit, format }: ImageSizeQuery): QueryParameter[] => {
  const values = { w: width, h: height, fit, format };
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
};

/** Undecoded. */
export const parametersIn = (query: string): QueryParameter[] =>
  query.split('&').map((part) => {
    const [name = '', value = ''] = part.split('=', 2);
    return [name, value];
  });

/** Parses a canonical name; `undefined` if it is none. */
export const parseVariantName = (name: string): ImageSize | undefined => {
  const found = shape.exec(name)?.groups;
  if (!found) return undefined;
  const side = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
  const size: ImageSize = {
    width: side(found.width),
    height: side(found.height),
    fit: found.fit === 'contain' ? 'contain' : 'cover',
    format: found.format as ImageSize['format'],
  };
  return name !== '' && parseVariantQuery(parametersOf(size)).name === name ? size : undefined;
};

/** Query for a variant, such as `?w=640`, or empty. Throws 400 `INVALID_SIZE`. */
export const variantQuery = (size: ImageSizeQuery): string => {
  const parameters = parametersOf(size);
  const { refusal } = parseVariantQuery(parameters);
  if (refusal !== '') {
    const message = refusal.replace(/^w /, 'width ').replace(/^h /, 'height ');
    throw new AppError('INVALID_SIZE', message);
  }
  return parameters.length === 0 ? '' : `?${parameters.map((pair) => pair.join('=')).join('&')}`;
};

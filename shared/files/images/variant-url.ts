// Also runs as a CloudFront function (infra/stacks/size-requests.ts), whose JavaScript is old: the build rejects
// destructuring, spread and default parameters here.

export const sides = [64, 128, 256, 320, 480, 640, 768, 1024, 1280, 1600, 2048];

export const fits = ['cover', 'contain'];

export const formats = ['webp', 'avif', 'jpeg', 'png'];

export type QueryParameter = readonly [name: string, value: string];

interface ParsedVariant {
  /** Canonical, such as `w640_h480_contain_webp`; empty for the original file. */
  readonly name: string;
  /** Message for people; empty if valid. */
  readonly refusal: string;
}

const refused = (refusal: string): ParsedVariant => ({ name: '', refusal });

const nearestTo = (value: number): number =>
  sides.reduce((best, side) => (Math.abs(side - value) <= Math.abs(best - value) ? side : best), 64);

const sideProblem = (name: string, value: string): string => {
  if (sides.some((side) => String(side) === value)) return '';
  const nearest = /^[0-9]{1,15}$/.test(value) ? ` The nearest is ${nearestTo(Number(value))}.` : '';
  return `${name} must be one of ${sides.join(', ')}.${nearest}`;
};

const problemOf = (name: string, value: string): string => {
  if (name === 'w' || name === 'h') return sideProblem(name, value);
  const list = name === 'fit' ? fits : formats;
  return list.indexOf(value) < 0 ? `${name} must be one of ${list.join(', ')}.` : '';
};

const known = ['w', 'h', 'fit', 'format'];

/** Parses the parameters of a variant. Unknown ones are ignored; repeated ones and values off the lists are errors. */
export const parseVariantQuery = (parameters: readonly QueryParameter[]): ParsedVariant => {
  const valuesOf = (name: string): string[] => parameters.filter((one) => one[0] === name).map((one) => one[1]);
  const all = known.map(valuesOf);
  const problems = known.map((name, at) => {
    const values = all[at] as string[];
    if (values.length > 1) return `${name} is sent ${values.length} times; send it once.`;
    return values.length === 0 ? '' : problemOf(name, values[0] as string);
  });
  const problem = problems.filter((text) => text !== '')[0];
  if (problem !== undefined) return refused(problem);
  const value = (at: number): string => (all[at] as string[])[0] || '';
  const parts = [
    value(0) && `w${value(0)}`,
    value(1) && `h${value(1)}`,
    // With one side the image stays whole, so there is nothing to fit.
    value(0) && value(1) && value(2) === 'contain' ? 'contain' : '',
    value(3),
  ];
  return { name: parts.filter((part) => part !== '').join('_'), refusal: '' };
};

export interface FileRoute {
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

/** Public files and signed links; paths of variants cannot be requested directly. */
const ofFile = /^(?:\/private)?\/[0-9a-f]{24}\/[A-Za-z0-9._-]+$/;

const refusal = (status: number, code: string, message: string, requestId: string): FileRoute => ({
  path: '',
  status,
  body: JSON.stringify({ success: false, message, code, requestId }),
});

/** Maps an address of the files' origin to the file or the variant that its parameters name. */
export const routeFileRequest = (path: string, parameters: readonly QueryParameter[], requestId: string): FileRoute => {
  if (!ofFile.test(path)) return refusal(404, 'FILE_NOT_FOUND', 'File not found.', requestId);
  const asked = parseVariantQuery(parameters);
  if (asked.refusal !== '') return refusal(400, 'INVALID_SIZE', asked.refusal, requestId);
  return { path: asked.name === '' ? path : `${path}/${asked.name}`, status: 200, body: '' };
};

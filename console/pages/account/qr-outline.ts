import { encode } from 'uqr';

/**
 * The dark modules of a QR code as an SVG path of runs, `M4 4h7v1h-7z…`, in a square of `size` that includes the
 * margin.
 */
export const qrOutline = (text: string): { readonly outline: string; readonly size: number } => {
  // Readers expect a margin of four modules.
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const runs = data.flatMap((row, y) =>
    [
      ...row
        .map((dark) => (dark ? '#' : ' '))
        .join('')
        .matchAll(/#+/g),
    ].map(({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`),
  );
  return { outline: runs.join(''), size };
};

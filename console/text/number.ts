/** `12,345`. */
export const numberText: (value: number) => string = new Intl.NumberFormat('en').format;

/** `12.3K`, for narrow places. */
export const shortNumber: (value: number) => string = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumFractionDigits: 1,
}).format;

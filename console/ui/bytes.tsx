const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export const bytesText = (bytes: number): string => {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
};

/** A size; the exact number is its tooltip. */
export const Bytes = ({ of }: { readonly of: number }) => <span title={`${of} B`}>{bytesText(of)}</span>;

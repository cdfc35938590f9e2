import { useKept } from '../../ui/kept.ts';

interface Layout {
  /** In pixels, by column. */
  readonly widths: Readonly<Record<string, number>>;
  /** The first column stays in view. */
  readonly frozen: boolean;
}

const [minWidth, maxWidth] = [48, 960];

const parse = (kept: unknown): Layout => {
  const { widths, frozen } = (kept ?? {}) as { readonly widths?: unknown; readonly frozen?: unknown };
  const all = Object.entries((widths ?? {}) as Readonly<Record<string, unknown>>);
  return {
    widths: Object.fromEntries(all.filter((entry): entry is [string, number] => typeof entry[1] === 'number')),
    frozen: frozen === true,
  };
};

/** How the reader has laid out the columns of a collection. This browser keeps it. */
export const useColumnLayout = ({
  projectId,
  collectionName,
}: {
  readonly projectId: string;
  readonly collectionName: string;
}) => {
  const [layout, keep] = useKept(`layout:${projectId}/${collectionName}`, parse);
  return {
    ...layout,
    /** `undefined`: as wide as the browser makes it. */
    setWidth: (column: string, width: number | undefined): void => {
      const { [column]: _before, ...others } = layout.widths;
      const widths =
        width === undefined
          ? others
          : { ...others, [column]: Math.min(maxWidth, Math.max(minWidth, Math.round(width))) };
      keep({ ...layout, widths });
    },
    setFrozen: (frozen: boolean): void => keep({ ...layout, frozen }),
  };
};

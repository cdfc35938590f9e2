interface Props {
  readonly field: string;
  readonly sort: string | undefined;
  readonly onSort: (sort: string | undefined) => void;
}

/** A column header. The first click sorts, the second reverses, the third resets. */
export const SortHead = ({ field, sort, onSort }: Props) => {
  const next = sort === field ? `-${field}` : sort === `-${field}` ? undefined : field;
  return (
    <button type="button" class="sort" onClick={() => onSort(next)}>
      {field} {sort === field ? '▴' : sort === `-${field}` ? '▾' : ''}
    </button>
  );
};

import { t } from '../text/words.ts';
import { Button } from './button.tsx';

interface Props {
  readonly page: number;
  readonly size: number;
  readonly shown: number;
  readonly total: number;
  readonly capped: boolean;
  readonly onPage: (page: number) => void;
}

/** Which part of a list is shown, and the ways to the others. */
export const Pager = ({ page, size, shown, total, capped, onPage }: Props) => {
  const from = (page - 1) * size + 1;
  return (
    <>
      <span>{t.documents.total(from, from + shown - 1, total, capped)}</span>
      <Button kind="plain" aria-label={t.pager.before} disabled={page <= 1} onClick={() => onPage(page - 1)}>
        ←
      </Button>
      <Button kind="plain" aria-label={t.pager.after} disabled={shown < size} onClick={() => onPage(page + 1)}>
        →
      </Button>
    </>
  );
};

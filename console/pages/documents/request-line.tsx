import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { CopyRequest } from './copy-request.tsx';

interface Props {
  readonly collectionName: string;
  /** Filter and sort, as in the address. */
  readonly query: string;
  /** A field to filter by in the placeholder, and one to sort by. */
  readonly fields: readonly string[];
  readonly onRun: (query: string) => void;
}

/** The request behind the list, as apps send it: to read, edit, run and copy. */
export const RequestLine = ({ collectionName, query, fields, onRun }: Props) => {
  const typed = useSignal(query);
  useEffect(() => {
    typed.value = query;
  }, [query, typed]);
  const path = `/api/data/${collectionName}`;
  return (
    <form
      class="request"
      onSubmit={(event) => {
        event.preventDefault();
        onRun(typed.value);
      }}
    >
      <span class="mono muted">GET {path}?</span>
      <input
        class="input mono"
        aria-label={t.documents.query}
        spellcheck={false}
        autocomplete="off"
        placeholder={`where={"${fields[0] ?? '_id'}":…}&sort=-${fields[1] ?? 'createdAt'}`}
        value={typed.value}
        onInput={({ currentTarget: { value } }) => {
          typed.value = value;
        }}
      />
      {typed.value !== query && <Button type="submit">{t.documents.run}</Button>}
      <CopyRequest
        request={{
          ...{ id: 'list-documents', method: 'GET', path },
          query: Object.fromEntries(new URLSearchParams(typed.value)),
        }}
      />
    </form>
  );
};

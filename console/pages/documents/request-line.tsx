import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { toClipboard } from '../../ui/clipboard.ts';
import { Menu } from '../../ui/menu.tsx';
import { say } from '../../ui/toast.tsx';
import { codeOf, languages } from '../api/code.ts';

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
  const copy = async (language: (typeof languages)[number]) => {
    const parameters = Object.fromEntries(new URLSearchParams(typed.value));
    const example = {
      id: 'list-documents',
      area: 'data',
      summary: '',
      method: 'GET',
      path,
      access: 'secretKey',
      params: {},
    };
    const place = { api: service().api, publishableKey: '' };
    const code = codeOf(language, { ...example, query: parameters, body: undefined }, place, 'secret');
    if (await toClipboard(code)) say(t.acts.copied);
  };
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
      <Menu title={t.documents.copyRequest} label={<>{t.acts.copy} ▾</>}>
        {languages.map((language) => (
          <button key={language} type="button" onClick={() => void copy(language)}>
            {t.api.languages[language]}
          </button>
        ))}
      </Menu>
    </form>
  );
};

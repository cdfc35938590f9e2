import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../../text/words.ts';

/** Words to find in the fields that the schema names searchable; Enter looks for them. */
export const SearchBox = ({
  words,
  onSearch,
}: {
  readonly words: string;
  readonly onSearch: (words: string) => void;
}) => {
  const typed = useSignal(words);
  useEffect(() => {
    typed.value = words;
  }, [words, typed]);
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSearch(typed.peek().trim());
        }}
      >
        <input
          type="search"
          class="input short"
          aria-label={t.documents.search}
          placeholder={t.documents.search}
          maxLength={256}
          value={typed.value}
          onInput={({ currentTarget: { value } }) => {
            typed.value = value;
          }}
        />
      </form>
    </search>
  );
};

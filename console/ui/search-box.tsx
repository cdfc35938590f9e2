import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Words to look for; Enter does. */
export const SearchBox = ({
  label,
  words,
  onSearch,
}: {
  readonly label: string;
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
          aria-label={label}
          placeholder={label}
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

export const Explained = ({ sentences }: { readonly sentences: readonly string[] }) => (
  <>
    {sentences.map((sentence) => (
      <span key={sentence} class="said">
        {sentence
          .split('`')
          .map((part, place) => (place % 2 === 0 ? part : <code key={`${place} ${part}`}>{part}</code>))}
      </span>
    ))}
  </>
);

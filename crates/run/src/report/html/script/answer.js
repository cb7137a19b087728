// The answer of a case, alone or beside that of the baseline.

function noAnswer(details) {
  const isCut = run.isCut && !details.error && !details.conversation;
  return el("p", "muted", isCut ? "The answer is not in this page; see the note at its top." : "There is no answer.");
}

function answerText(answer, details) {
  if (!known(answer)) return noAnswer(details);
  return answer === "" ? el("p", "muted", "The answer is empty.") : textBlock(answer);
}

function answerNode(one, details) {
  const answer = answerOf(details);
  const before = earlierOf(one);
  const isPair = before && known(before.answer) && known(answer);
  const title = el("div", "title", el("h3", "", "Answer"),
    !isPair && known(answer) && rawButton(redrawCase),
    known(answer) && copyButton("Copy the answer", () => answer));
  const body = isPair ? answerPair(one, before, answer) : el("div", "said answer", answerText(answer, details));
  return el("section", "answers", title, body, labelNode(one, details));
}

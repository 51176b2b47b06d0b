export const english = {
  code: "en",
  words: `
about: what is in | what's in | what s in | whats in | what is inside | what is | what's | what does … do | what does … say | what does … contain | tell me about | what about | what are the contents | about | how does … work | how do … work | analyze | analyse | analysis | explain | explains | explanation | describe | description of | walk me through | how many | count | number of | review | reviews | inspect | check | critique | look over
ask_me: ask me | question me | let me choose | let me pick
asking: how do i | how do you | how can i | how could i | how should i | how to | what happens | what would happen | why | should i | what if | don't | do not | dont | never
delete: delete | remove | erase | rm | get rid of
file: file | files
find: find | search | searching | grep | locate | look for | look up | occurrences of | usages of | uses of | which files contain | which files use | which file contains | where | defined | define | defines | definition | definitions | declared | declare | declaration | implemented
help: help | what can you do | what can i do | what do you do | who are you | what are you | how do you work | how can i use you | abilities | hello | hi | hey | good morning | good evening | good afternoon | howdy | thanks | thank you | thx | cheers
lines: line | lines
list: list | ls | enumerate | which files are | what files are
plan: plan | plans | planning | roadmap
project: project | projects | repo | repository | codebase | code base | workspace | structure | structured | layout | laid out | architecture | organised | organized | organisation | organization | file tree | overview of the project | overview of this project
rename: rename | renames | move | mv
replace: replace | replaces | substitute | swap | change | edit
run: run | runs | execute | exec | launch | start | invoke
show: show | display | print | cat | view | open | quote | let me see | output | give me the lines | give me lines | read | reads | reading | look at | go through
summarise: tl;dr | summarise | summarize | summarises | summarizes | summarising | summarizing | sum up | sum … up | tldr | tl dr | condense | recap | main points | key points | digest | summary | summaries | overview | synopsis | abstract
tests: test | tests | test suite | unit tests
this: this | that | it | these | following | above | below
todo_list: todo list | to do list | todolist | task list | tasklist | checklist | todos
write: create | creates | creating | make | generate | produce | draft | compose | prepare | add a new | write | writes | save | store | put | writing
glue: please | can | could | would | will | shall | should | you | i | me | my | we | us | the | a | an | to | of | for | and | or | then | also | just | now | kindly | is | are | was | be | been | do | does | did | in | into | on | at | from | with | within | under | inside | by | as | who | which | that | what | there | how | have | has | want | like | need | word | words | string | term`,
  target:
    /\b(?:summar|creat|writ|sav|mak|draft|put)[^]{0,120}?\b(?:in|into|to|as|called|named)\s+(?:the |a |an )?(?:new )?(?:file )?([\uE000-\uF8FF])/g,
  folder:
    /(?:^|\s)(?:(?:in|inside|under|within|of)\s+(?:the |my )?(?:folder |directory )?|(?:folder|directory|ls|search)\s+)(?!the |this |my |all |for )([\w.-]+)/,
  goals: [/\bplan\b\s{0,3}(?:for|to|of|out|how to)?\b\s{0,3}:?\s{0,3}(.+)$/is],
  term: /(?:search for|find|grep|look for|usages of|where is)\s+(?:the )?(?:word |words |string |text )?(.+?)(?:\s+(?:in|used|defined)\b.*)?$/i,
  phrases: {
    introduction: "Sheaf's offline model (rule-based, no key needed) answers.",
    summaryFile: ["I, the rule-based offline model, will ", "read {0}", " and create a summary in {1}."],
    calling: "I am calling {0} with {1}.",
    failed: "{0} failed for {1}:",
    toolMissing: "This needs the tool {0}, which mode {1} does not offer. Start again with `--mode agent`.",
    budgetEnds:
      "The budget of this run is used up. Still to do: {0} Raise the budget (`--max-turns`, `--max-tool-calls`, `--max-tokens`) and go on with `--continue`.",
    title: "{0} summary",
    origin: "Taken from {0} ({1}) by Sheaf's offline model: its sentences are selected, none is invented.",
    counts: "lines: {0}, characters: {1}, headings: {2}",
    purpose: "Purpose",
    commands: "Commands",
    outline: "Outline",
    and: " and ",
    more: "… and {0} more",
    nothing: "Nothing was found for {0}.",
    done: "Done: {0}.",
    planTitle: "Plan: {0}",
    planOverview:
      'A first plan for "{0}", made by rules from the names in the folder; they know the layout, not the code.',
    look: "Read {0} and note what is there already",
    goal: 'Write down how to tell that "{0}" is done, with one example',
    tests: "Add tests for the example and for one failure",
    check: "Run {0}",
    missing: "One thing is missing:",
    questions: {
      file: "Which file?",
      command: "Which command?",
      term: "What should be searched for?",
      goal: "What should be planned?",
      content: "What should be in the file?",
      items: "What should be on the list? Separate the entries with commas.",
      task: "What should be done?",
      names: "What should the file be called?",
    },
    tasks: ["Summarise {0}", "Explain the project structure", "List the files", "What can you do?"],
    notUnderstood: "No rule of Sheaf's offline model fits this prompt.",
    abilities: `- read and summarise: \`Read README.md and create a summary\`, \`Summarise docs/guide.md\`, \`What is in package.json?\`; or pipe a text in and write \`summarise this\`
- show: \`Show src/main.ts\`, \`Show lines 10-20 of src/main.ts\`
- find: \`Find TODO in src\`, \`Where is createServer defined?\`, \`Find all *.ts files\`
- explain the layout: \`Explain the project structure\`, \`List the files in src\`
- run: \`\`Run \`npm test\` \`\`, \`Run the tests\`
- write and change: \`Create hello.txt with the content "Hello"\`, \`Replace "a" with "b" in hello.txt\`, \`Rename hello.txt to hi.txt\`, \`Delete hi.txt\`
- plan: \`Plan the move to TypeScript\`, \`Make a todo list: read, write, test\``,
    realModel:
      "For everything else use a real model: `--model anthropic/…` or `--model openai/…` with its key in the environment or `--api-key`, or a local one with `--model ollama/… --base-url http://localhost:11434/v1`. See `sheaf --help`.",
  },
};

/** A language that the model understands and answers in. English is the reference for the others. */
export type Language = typeof english;

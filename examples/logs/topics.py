"""What people in the invented logs talk about: any response of a topic answers any utterance."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TOPICS", "Topic"]


@dataclass(frozen=True)
class Topic:
    """Sentences with a gap `{x}` that the same word fills in utterance and response."""

    words: tuple[str, ...]
    utterances: tuple[str, ...]
    responses: tuple[str, ...]


TOPICS = (
    Topic(
        ("projector", "microphone", "laptop"),
        (
            "The {x} died in the middle of my talk.",
            "Ten minutes into my presentation the {x} gave up.",
            "My presentation was terrible, the {x} stopped working.",
        ),
        (
            "Oh no, did you manage to finish somehow?",
            "That's bad luck. Did anybody find another {x}?",
            "A {x} always picks the worst moment, doesn't it?",
            "I'm sure they still liked what you said.",
            "So did you just talk without the slides?",
        ),
    ),
    Topic(
        ("Friday", "Sunday", "holiday"),
        (
            "Who plans a meeting for a {x}?",
            "They have scheduled a meeting at six on a {x}!",
            "Another meeting, and on a {x} too.",
        ),
        (
            "Somebody who has no life outside the office.",
            "Tell them you already have plans.",
            "Just don't go. What can they do?",
            "On a {x}? That's a bad joke.",
            "I would move it to Monday morning.",
        ),
    ),
    Topic(
        ("lasagna", "risotto", "curry"),
        (
            "My {x} came out watery again, what am I doing wrong?",
            "Why is my {x} always like soup?",
            "The {x} I made last night was far too watery.",
        ),
        (
            "Let it rest a little before you serve it.",
            "You probably took too much stock.",
            "Leave the lid off while it cooks.",
            "Did you drain the vegetables first?",
            "Mine does that too. Next time use less sauce.",
        ),
    ),
    Topic(
        ("eight", "half past seven", "six"),
        (
            "We're going out for dinner, the table's at {x}. Do you want to come?",
            "Do you want to join us tonight? We have a table at {x}.",
            "There is a free chair at our table at {x}, are you in?",
        ),
        (
            "I'd love to, see you there!",
            "Yes please! Should I bring anybody?",
            "Sorry, I can't tonight, I have to work late.",
            "At {x}? I might be a bit late, but yes.",
            "Where is it? I'll come straight from work.",
        ),
    ),
    Topic(
        ("suitcase", "rucksack", "bag"),
        (
            "The airline has lost my {x}.",
            "My {x} didn't arrive, and all my clothes are in it.",
            "They've sent my {x} to another country.",
        ),
        (
            "What a nightmare! Did they say when you'll get it back?",
            "You can borrow some of my clothes.",
            "Ask them for money, they have to pay.",
            "Mine came back after three days, don't give up.",
            "Was there anything valuable in the {x}?",
        ),
    ),
    Topic(
        ("Prague", "Lisbon", "Copenhagen"),
        (
            "Should I go to {x} or Vienna in spring?",
            "Is {x} worth a weekend?",
            "We can't decide between {x} and Rome.",
        ),
        (
            "Go to {x}, the food is better.",
            "I'd take the other one, {x} is full of tourists.",
            "Why not both? It's not far by train.",
            "Definitely {x} if you like walking.",
            "That depends. Do you like museums?",
        ),
    ),
    Topic(
        ("snow", "hail", "frost"),
        (
            "There's {x} outside, and it's April!",
            "Can you believe this {x}? I've put my winter coat away.",
            "More {x}! When does spring begin?",
        ),
        (
            "I know, I'm wearing two pairs of socks.",
            "At least the kids are happy.",
            "They say it will be warm again on Thursday.",
            "My poor tomatoes won't survive it.",
            "I got my scarf out again this morning.",
        ),
    ),
    Topic(
        ("picnic", "barbecue", "garden party"),
        (
            "It's going to rain, should we cancel the {x}?",
            "What do we do about the {x} if it rains?",
            "The forecast for the {x} is awful.",
        ),
        (
            "Let's do it at my place instead.",
            "No, bring an umbrella and it'll be fine.",
            "We could have the {x} next weekend.",
            "A little rain never hurt anyone.",
            "I have a big tent, would that help?",
        ),
    ),
    Topic(
        ("film", "series", "play"),
        (
            "I didn't understand the end of that {x} at all.",
            "Three hours, and the ending of the {x} made no sense.",
            "Did you get the ending of the {x}?",
        ),
        (
            "It makes more sense the second time.",
            "He was dreaming the whole time, I think.",
            "Nobody does, that's why people talk about it.",
            "I fell asleep before the end.",
            "Read the book, it's much clearer there.",
        ),
    ),
    Topic(
        ("horror film", "thriller", "crime film"),
        (
            "Do you know a good {x} for tonight?",
            "Can you recommend a {x} without too much blood?",
            "We want to watch a {x}, any recommendations?",
        ),
        (
            "Try something old, they're not so cruel.",
            "I never watch that sort of thing, sorry.",
            "Ask my brother, he's seen them all.",
            "There's a Danish {x} that everybody loves.",
            "Let's watch a cartoon instead.",
        ),
    ),
    Topic(
        ("cough", "headache", "back pain"),
        (
            "I've had this {x} for weeks now.",
            "My {x} just won't go away.",
            "It's the third week with this {x}.",
        ),
        (
            "You should see a doctor about that.",
            "Have you tried honey and hot tea?",
            "That's a long time. Are you sleeping enough?",
            "Everybody at work has it too.",
            "Take a few days off and rest.",
        ),
    ),
    Topic(
        ("dentist", "doctor", "hospital"),
        (
            "I was at the {x} today and I can't eat anything now.",
            "The {x} says I mustn't eat until tonight.",
            "Back from the {x}, two hours and no lunch.",
        ),
        (
            "Ouch, does it still hurt?",
            "Poor you. I'll make some soup for later.",
            "At least it's over now.",
            "I hate going to the {x}.",
            "So no pizza tonight, then?",
        ),
    ),
    Topic(
        ("Christmas", "Easter", "her birthday"),
        (
            "My mother wants all of us there for {x}.",
            "The whole family is coming for {x}, even my uncle.",
            "We're twenty people at {x} this year.",
        ),
        (
            "All of you? Where will everyone sleep?",
            "That sounds lovely and exhausting.",
            "Just don't talk about politics.",
            "Can I come too? I love your mother's cooking.",
            "I'd find an excuse if I were you.",
        ),
    ),
    Topic(
        ("word", "tooth", "step"),
        (
            "Her first {x}, and I was at work!",
            "The baby's first {x} was yesterday.",
            "Our little one has had her first {x}!",
        ),
        (
            "How wonderful! Did you film it?",
            "They grow up so quickly.",
            "Already? She's not even one!",
            "There'll be many more, don't worry.",
            "She clearly takes after you.",
        ),
    ),
    Topic(
        ("laptop", "computer", "tablet"),
        (
            "My {x} won't turn on, the screen is black.",
            "The screen of my {x} stays black.",
            "My {x} is dead and I have a deadline tomorrow.",
        ),
        (
            "Have you tried another charger?",
            "Hold the power button down for a while.",
            "You have a backup, don't you?",
            "Bring it over, I'll have a look at it.",
            "You can use my {x} until it's repaired.",
        ),
    ),
    Topic(
        ("bank", "email", "tax"),
        (
            "I've forgotten the password of my {x} account.",
            "One more attempt and my {x} account is locked.",
            "The {x} website says my password is wrong.",
        ),
        (
            "Stop trying and reset it instead.",
            "Is caps lock on, by any chance?",
            "You really should write them down somewhere.",
            "It's probably the name of your dog.",
            "Give them a call, they can unlock it.",
        ),
    ),
    Topic(
        ("cake", "chicken", "roast"),
        (
            "The dog ate the {x} while I was at the door.",
            "Our dog has eaten the whole {x}.",
            "Guess who found the {x}? The dog did.",
        ),
        (
            "Oh no! Is he all right?",
            "You can't be angry with that face.",
            "Well, he has good taste.",
            "Call the vet, just to be safe.",
            "So what are we having for dinner now?",
        ),
    ),
    Topic(
        ("kitten", "puppy", "rabbit"),
        (
            "What should we call the new {x}? She's tiny and grey.",
            "We got a {x}! We just need a name.",
            "The kids can't agree on a name for the {x}.",
        ),
        (
            "How about Smoky?",
            "Call her Mouse, that'll confuse everyone.",
            "Wait a week, the name will come by itself.",
            "A {x}! Can I come and see her?",
            "Something short, you'll be shouting it a lot.",
        ),
    ),
    Topic(
        ("two goals", "three points", "twelve points"),
        (
            "We were {x} ahead and still lost!",
            "How can you lose when you are {x} up?",
            "{x} ahead at half-time, and then that.",
        ),
        (
            "I switched it off, I thought it was over.",
            "They always do this to us.",
            "The referee was blind, that's how.",
            "Next year, my friend, next year.",
            "I told you it wasn't over yet.",
        ),
    ),
    Topic(
        ("marathon", "half marathon", "triathlon"),
        (
            "I've signed up for a {x}. Am I crazy?",
            "I want to run a {x} next year, but I can barely run 5 km.",
            "Somebody talked me into a {x}.",
        ),
        (
            "Not at all! Just start slowly.",
            "A little, but I'll come and cheer.",
            "You have plenty of time to train.",
            "Get good shoes before anything else.",
            "I did a {x} once and never again.",
        ),
    ),
    Topic(
        ("thesis", "essay", "report"),
        (
            "I've written two pages of my {x} in a month.",
            "My {x} is due in June and I've hardly begun.",
            "I can't get started on my {x}.",
        ),
        (
            "Write a little every day, it adds up.",
            "June is far away, don't panic.",
            "Turn your phone off, that worked for me.",
            "Two pages are better than none.",
            "Shall I read what you have?",
        ),
    ),
    Topic(
        ("exam", "interview", "driving test"),
        (
            "I'm so nervous about the {x} that I can't sleep.",
            "My {x} is tomorrow and I feel sick.",
            "What if I fail the {x}?",
        ),
        (
            "You've prepared so well, you'll be fine.",
            "Then you try again, nobody will mind.",
            "Have a hot bath and go to bed early.",
            "I was sick before mine, and I passed.",
            "Call me when you can't sleep.",
        ),
    ),
    Topic(
        ("sofa", "piano", "wardrobe"),
        (
            "We have to carry the {x} up five floors.",
            "There's no lift, so the {x} goes up the stairs.",
            "Can you help us move the {x} on Saturday?",
        ),
        (
            "Five floors? I have a bad back, sorry.",
            "Only if there's pizza afterwards.",
            "Pay someone for that, seriously.",
            "Does the {x} even fit through the door?",
            "I'll bring my brother, he's strong.",
        ),
    ),
    Topic(
        ("flat", "room", "house"),
        (
            "I found a {x} that I love, but it's far too expensive.",
            "The rent for that {x} is 1200 a month.",
            "It's a lovely {x}, but the rent!",
        ),
        (
            "Could you share it with somebody?",
            "That's half of what you earn.",
            "Keep looking, there will be another one.",
            "Try to talk them down a bit.",
            "Is the heating included at least?",
        ),
    ),
    Topic(
        ("shoes", "trousers", "boots"),
        (
            "These {x} are too small and the shop won't take them back.",
            "I ordered {x} and they're two sizes too small.",
            "The shop refuses to change my {x}.",
        ),
        (
            "They have to take them back within two weeks.",
            "Give them to your sister.",
            "Write a bad review, that helps.",
            "That's why I never buy {x} online.",
            "Do you still have the receipt?",
        ),
    ),
    Topic(
        ("father", "brother", "boss"),
        (
            "What do I give my {x}? He doesn't want anything.",
            "My {x} says he needs nothing for his birthday.",
            "Any idea for a present for my {x}?",
        ),
        (
            "They all say that and don't mean it.",
            "A good bottle of wine never fails.",
            "Tickets for something you can do together.",
            "Socks. Everybody needs socks.",
            "Take him at his word and give him nothing.",
        ),
    ),
    Topic(
        ("bridge", "motorway", "ring road"),
        (
            "I'm stuck in traffic, there's an accident on the {x}.",
            "Nothing moves on the {x}, I'll be late.",
            "The {x} is closed, start without me.",
        ),
        (
            "No problem, we'll wait for you.",
            "Okay, I'll save you a seat. Drive carefully.",
            "Again? Take the train next time.",
            "I hope nobody was hurt.",
            "Turn round and go through the village.",
        ),
    ),
    Topic(
        ("furniture", "drums", "music"),
        (
            "The neighbours were at it with their {x} at 2 am again.",
            "I heard {x} from upstairs all night.",
            "Who needs {x} in the middle of the night?",
        ),
        (
            "Go up and have a word with them.",
            "Earplugs, best money I ever spent.",
            "Write them a friendly note first.",
            "Again? I'd call the landlord.",
            "You can sleep on my sofa tonight.",
        ),
    ),
    Topic(
        ("wine", "cheese", "salad"),
        (
            "Could you set the table and bring the {x}?",
            "Dinner is nearly ready, where's the {x}?",
            "Would you see to the {x} while I cook?",
        ),
        (
            "Sure, how many are we?",
            "I forgot to buy {x}, sorry!",
            "In a minute, I'm on the phone.",
            "It's already on the table.",
            "Of course. It smells wonderful in here!",
        ),
    ),
    Topic(
        ("electricity", "gas", "heating"),
        (
            "The {x} bill is twice what we paid last winter!",
            "Have you seen the {x} bill?",
            "How can the {x} bill be this high?",
        ),
        (
            "That can't be right, let me see it.",
            "Everything costs twice as much now.",
            "We should change to another company.",
            "Somebody leaves everything on all night.",
            "Call them, it must be a mistake.",
        ),
    ),
    Topic(
        ("50 euros", "a hundred", "twenty"),
        (
            "Could you lend me {x} until payday?",
            "Can I borrow {x}? You'll have it back on Friday.",
            "I'm short of {x}, could you help me out?",
        ),
        (
            "Of course, I'll send it to you now.",
            "You still owe me from last month.",
            "Sorry, I'm broke myself.",
            "Sure. Is everything all right?",
            "Only if you pay the next round.",
        ),
    ),
    Topic(
        ("tomato plant", "rose bush", "lemon tree"),
        (
            "The leaves on my {x} are turning yellow.",
            "What's wrong with my {x}? All the leaves are yellow.",
            "My {x} did so well, and now look at it.",
        ),
        (
            "Maybe too much water?",
            "Put it in the sun and leave it alone.",
            "It needs some iron, I think.",
            "Mine looks the same, it's the cold.",
            "I kill every plant, don't ask me.",
        ),
    ),
    Topic(
        ("concert", "final", "festival"),
        (
            "Tickets for the {x} go on sale tomorrow, are you in?",
            "Shall I get you a ticket for the {x}?",
            "The {x} is in June. Are you coming with us?",
        ),
        (
            "Absolutely, I'll set an alarm.",
            "How much are they?",
            "I can't, it's my sister's wedding.",
            "Yes! Try to get seats near the front.",
            "I'd rather watch it at home.",
        ),
    ),
    Topic(
        ("trumpet", "violin", "banjo"),
        (
            "I've started learning the {x}.",
            "My new hobby is the {x}.",
            "I bought a {x} at the flea market.",
        ),
        (
            "So that was the noise last night!",
            "Your neighbours must be delighted.",
            "I always wanted to play the {x}.",
            "Are you taking lessons?",
            "Play us something at Christmas!",
        ),
    ),
    Topic(
        ("job", "position", "part"),
        (
            "I got the {x}! They told me on the spot.",
            "They offered me the {x} straight away!",
            "Guess what, the {x} is mine!",
        ),
        (
            "Congratulations! When do you start?",
            "I knew it! We have to celebrate.",
            "That's fantastic, you deserve it.",
            "So quickly? They must have liked you.",
            "Does that mean you're moving away?",
        ),
    ),
    Topic(
        ("manager", "colleague", "professor"),
        (
            "My {x} took credit for my work again.",
            "My {x} presented my idea as his own.",
            "Once more my {x} gets the praise and I did the work.",
        ),
        (
            "You need to talk to someone above him.",
            "Put your name on everything from now on.",
            "That's so unfair. What did you say?",
            "Leave. You'll find something better.",
            "I'd have said something right there.",
        ),
    ),
    Topic(
        ("phone", "watch", "camera"),
        (
            "I dropped my {x} in the bath.",
            "My {x} fell into the water and it's dead.",
            "Can you save a {x} that was under water?",
        ),
        (
            "Don't switch it on until it's dry!",
            "Put it in a bag of rice for a day.",
            "Time for a new one, I'm afraid.",
            "Who takes a {x} into the bath?",
            "Were your photos saved somewhere?",
        ),
    ),
    Topic(
        ("keys", "glasses", "gloves"),
        (
            "I can't find my {x} anywhere.",
            "Have you seen my {x}?",
            "I've looked for my {x} all morning.",
        ),
        (
            "Look in the coat you wore yesterday.",
            "On the kitchen table, as always.",
            "Where did you have them last?",
            "Not again! Did you check the car?",
            "I'll help you look in a minute.",
        ),
    ),
    Topic(
        ("baby", "dog", "puppy"),
        (
            "The {x} kept me awake all night.",
            "I haven't slept, the {x} wouldn't stop.",
            "Up every two hours because of the {x}.",
        ),
        (
            "Go and lie down, I'll take over.",
            "Poor you. Coffee?",
            "I slept through it, sorry.",
            "It gets better, believe me.",
            "You look like it, to be honest.",
        ),
    ),
    Topic(
        ("oat milk", "soy milk", "cream"),
        (
            "A coffee with {x}, please, and a cinnamon bun.",
            "Could I have a large coffee with {x}?",
            "Two coffees with {x}, please.",
        ),
        (
            "Here or to take away?",
            "We're out of {x}, is normal milk okay?",
            "Sure, that'll be five forty.",
            "With sugar?",
            "Coming right up. Anything else?",
        ),
    ),
    Topic(
        ("onions", "nuts", "mushrooms"),
        (
            "Excuse me, I asked for no {x}, and there are {x} in this.",
            "Sorry, is this the dish without {x}?",
            "I can't eat this, it's full of {x}.",
        ),
        (
            "I'm so sorry, I'll bring you a new one.",
            "Let me ask the kitchen.",
            "Oh dear, that's my mistake.",
            "Would you like something else instead?",
            "I'll take it off the bill, of course.",
        ),
    ),
    Topic(
        ("parcel", "letter", "package"),
        (
            "It says my {x} was delivered, but there's nothing here.",
            "Where's my {x}? They say it's at the door.",
            "The {x} should have been here hours ago.",
        ),
        (
            "Ask next door, they often leave it there.",
            "Call them, they have to look for it.",
            "It's always the same with them.",
            "Did you look behind the bins?",
            "Wait until tomorrow, it'll turn up.",
        ),
    ),
    Topic(
        ("train", "tram", "bus"),
        (
            "The {x} stood still for forty minutes because of cows.",
            "My {x} was cancelled, I'll be late.",
            "I've been sitting in this {x} for an hour and nothing moves.",
        ),
        (
            "Take your time, we'll start later.",
            "That's the best excuse this year.",
            "Can't you walk from there?",
            "They should give you your money back.",
            "Same here, I worked from home instead.",
        ),
    ),
    Topic(
        ("bike", "scooter", "car"),
        (
            "Somebody stole my {x}, and it was locked!",
            "My {x} is gone, I only left it for an hour.",
            "I came back and the {x} wasn't there.",
        ),
        (
            "Have you been to the police?",
            "I'm so sorry. Was it insured?",
            "Are you sure it wasn't towed away?",
            "In broad daylight? Unbelievable.",
            "You can have my old one for now.",
        ),
    ),
    Topic(
        ("camping", "hiking", "sailing"),
        (
            "The kids are wet and muddy, but that's {x} for you.",
            "It has rained for three days, so much for {x}.",
            "Three days of {x} in the rain with the kids.",
        ),
        (
            "Sounds like a real family holiday.",
            "Go somewhere warm next year.",
            "Take a pack of cards, it saves lives.",
            "I'd go home and have a hot shower.",
            "The kids will talk about it for years.",
        ),
    ),
)
